import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { holdTimers } from '../../../test/timers.ts';
import { editModByPut } from '../../catalogue/mods/operations.ts';
import { restrictUserInGame } from '../../catalogue/restrictions/operations.ts';
import { MANAGER, MODERATOR } from '../../catalogue/teams/teams.ts';
import { composeWorker } from '../../composition/compose.ts';
import { jobHandlers } from '../../composition/resources.ts';
import {
  addGameWebhook,
  deleteGameWebhook,
  editGameWebhook,
  getGameWebhookDeliveries,
  getGameWebhooks,
  replayGameWebhook,
  replayGameWebhookDelivery,
  rotateGameWebhookSecret,
  testGameWebhook,
} from './operations.ts';
import { WEBHOOKS_MAX } from './webhooks.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32' } });
/** Other resources’ schedules are off, because days of simulated time would run them hundreds of times. */
const handlers = jobHandlers.map((each) => (each.kind.startsWith('webhooks.') ? each : { ...each, every: 0 }));
const worker = composeWorker(api.app(), handlers);
const DAY = 24 * 3_600;

interface Message {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { id: number; event_type: string; subject: string; data: Record<string, unknown> };
}

/** The server of a studio. `answers` handles each message; by default everything is accepted. */
async function aReceiver(answers: (response: ServerResponse, message: Message) => void = (response) => response.end()) {
  const got: Message[] = [];
  const receiver = { got, answers, url: '', server: undefined as Server | undefined };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      const message = { headers: request.headers, text, body: JSON.parse(text || '{}') };
      got.push(message);
      receiver.answers(response, message);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  receiver.server = server;
  return receiver;
}

async function aWebhook(game: Game, url: string, fields: { events?: string[] } = {}) {
  const client = await api.as(game.owner);
  const answer = await client.call(addGameWebhook, {
    params: { game_id: game.id },
    body: { name: 'Studio', url, ...fields },
  });
  assert.equal(answer.status, 201, answer.text);
  const params = { game_id: game.id, webhook_id: answer.body.id };
  const deliveries = async () => (await client.call(getGameWebhookDeliveries, { params })).body.data.toReversed();
  return { client, params, deliveries, secret: answer.body.secret };
}

async function edit(mod: Mod, summary: string): Promise<void> {
  const params = { game_id: mod.game_id, mod_id: mod.id };
  assert.equal((await (await api.as(mod.owner)).call(editModByPut, { params, body: { summary } })).status, 200);
}

const typesOf = (got: readonly Message[]) => got.map(({ body }) => body.event_type);

/** Verifies the signature as docs/webhooks.md describes. */
function isSigned({ headers, text }: Message, secret: string, header = 'x-service-webhook-token'): boolean {
  const [timestamp, ...signatures] = String(headers[header]).split(',');
  const expected = createHmac('sha256', secret)
    .update(`${timestamp!.slice(2)}.${text}`)
    .digest('hex');
  return Math.abs(api.clock.now() - Number(timestamp!.slice(2))) < 300 && signatures.includes(`v1=${expected}`);
}

/** Advances the clock until nothing is due for this long. */
async function pass(seconds: number, step = 60): Promise<void> {
  for (let passed = 0; passed < seconds; passed += step) {
    api.clock.advance(step);
    await worker.runDue();
  }
}

test('an event in a game is posted to its endpoint once, signed', async () => {
  const receiver = await aReceiver();
  const game = await api.aGame();
  const { secret, deliveries } = await aWebhook(game, receiver.url);
  const mod = await api.aMod({ game });
  await edit(mod, 'Better');
  await worker.runDue();
  assert.deepEqual(typesOf(receiver.got), ['USER_TEAM_JOIN', 'MOD_AVAILABLE', 'MOD_EDITED']);
  const last = receiver.got.at(-1)!;
  assert.deepEqual(last.body, {
    id: Number(last.headers['x-modio-webhook-event']),
    game_id: game.id,
    event_type: 'MOD_EDITED',
    subject: `mods/${mod.id}`,
    date_added: api.clock.now(),
    data: { mod_id: mod.id, user_id: mod.owner.id },
  });
  for (const message of receiver.got) {
    assert.ok(isSigned(message, secret) && isSigned(message, secret, 'x-modio-webhook-token'));
    assert.ok(!isSigned(message, 'whsec_another') && !isSigned({ ...message, text: '{}' }, secret));
  }
  assert.deepEqual(
    (await deliveries()).map(({ state, status, attempts }) => [state, status, attempts]),
    receiver.got.map(() => ['delivered', 200, 1]),
  );
  await pass(DAY, 3_600);
  assert.equal(receiver.got.length, 3);
});

test('an endpoint receives the chosen events of its own game only, and none while it is disabled', async () => {
  const receiver = await aReceiver();
  const [game, grace] = [await api.aGame(), await api.aUser()];
  const { client, params } = await aWebhook(game, receiver.url, { events: ['MOD_EDITED', 'USER_RESTRICTED'] });
  await edit(await api.aMod(), 'Elsewhere');
  const mod = await api.aMod({ game });
  await edit(mod, 'One');
  await client.call(restrictUserInGame, { params: { game_id: game.id, user_id: grace.id }, body: { options: 1 } });
  await worker.runDue();
  assert.deepEqual(typesOf(receiver.got).sort(), ['MOD_EDITED', 'USER_RESTRICTED']);
  await client.call(editGameWebhook, { params, body: { is_active: false } });
  await edit(mod, 'Two');
  await client.call(editGameWebhook, { params, body: { is_active: true, events: ['MOD_AVAILABLE'] } });
  await edit(mod, 'Three');
  await worker.runDue();
  assert.equal(receiver.got.length, 2);
});

test('a failing receiver gets each event later, those of one mod in order; other mods do not wait', async () => {
  const [one, two] = ['One', 'Two'];
  const receiver = await aReceiver();
  const game = await api.aGame();
  const [stuck, other] = [await api.aMod({ game }), await api.aMod({ game })];
  const { deliveries } = await aWebhook(game, receiver.url);
  receiver.answers = (response, { body }) => {
    response.statusCode = body.subject === `mods/${stuck.id}` ? 500 : 204;
    response.end();
  };
  for (const summary of [one, two]) for (const mod of [stuck, other]) await edit(mod, summary);
  await worker.runDue();
  const of = (mod: Mod) =>
    receiver.got.filter(({ body }) => body.subject === `mods/${mod.id}`).map(({ body }) => body.id);
  assert.equal(of(other).length, 2);
  assert.equal(of(stuck).length, 1);
  await pass(600);
  assert.ok(of(stuck).length > 3);
  assert.equal(new Set(of(stuck)).size, 1);
  receiver.answers = (response) => response.end();
  await pass(3_600, 600);
  const heard = of(stuck);
  assert.deepEqual(
    heard,
    heard.toSorted((a, b) => a - b),
  );
  assert.equal(new Set(heard).size, 2);
  assert.ok((await deliveries()).every(({ state }) => state === 'delivered'));
});

test('a receiver that hangs or is offline loses nothing, and is tried less and less often', async () => {
  const receiver = await aReceiver((response) => response.destroy());
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  const { client, params, deliveries } = await aWebhook(game, receiver.url);
  for (const mod of mods) await edit(mod, 'Better');
  await worker.runDue();
  await pass(3_600, 120);
  const { failures, date_resumes } = (await client.call(getGameWebhooks, { params })).body.data[0]!;
  assert.ok(failures >= 7 && failures <= 14 && date_resumes > api.clock.now(), `${failures}`);
  receiver.got.length = 0;
  receiver.answers = (response) => response.end();
  await pass(3_600, 600);
  assert.equal(receiver.got.length, 3);
  assert.ok((await deliveries()).every(({ state }) => state === 'delivered'));
});

test('an attempt without an answer within five seconds fails and is logged', async (t) => {
  const deadlines = holdTimers(t, 5_000);
  const asked = Promise.withResolvers<void>();
  const receiver = await aReceiver(() => asked.resolve());
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const { deliveries } = await aWebhook(game, receiver.url);
  await edit(mod, 'Better');
  const running = worker.runDue();
  await asked.promise;
  api.clock.advance(5);
  deadlines.run();
  await running;
  const [delivery] = await deliveries();
  assert.match(delivery!.error!, /^timeout: no complete answer within 5000 ms/);
  assert.equal(delivery!.message, 'The server did not answer in time.');
  assert.ok(delivery!.state === 'waiting' && delivery!.duration_ms >= 5_000 && delivery!.date_due > api.clock.now());
  receiver.answers = (response) => response.end();
  await pass(60);
  assert.equal((await deliveries())[0]!.state, 'delivered');
});

test('redirects are not followed, and private networks are not reached', async () => {
  const inner = await aReceiver();
  const receiver = await aReceiver((response) => response.writeHead(307, { location: inner.url }).end());
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const redirecting = await aWebhook(game, receiver.url);
  const inward = await Promise.all(
    ['http://10.0.0.1/', 'https://169.254.169.254/', 'https://[::1]/', 'http://8.8.8.8/', 'https://0x0a000001/'].map(
      (url) => aWebhook(game, url),
    ),
  );
  await edit(mod, 'Better');
  await worker.runDue();
  assert.deepEqual([receiver.got.length, inner.got.length], [1, 0]);
  assert.match((await redirecting.deliveries())[0]!.error!, /^redirects/);
  for (const { deliveries } of inward) {
    const [{ state, error } = assert.fail()] = await deliveries();
    assert.equal(state, 'waiting');
    assert.match(error!, /^forbidden/);
  }
  receiver.answers = (response) => response.end();
  await pass(60);
  assert.equal((await redirecting.deliveries())[0]!.state, 'delivered');
});

test('after a day a delivery and those behind it are parked, and are sent again on request', async () => {
  const receiver = await aReceiver((response) => response.writeHead(503).end());
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const { client, params, deliveries } = await aWebhook(game, receiver.url);
  for (const summary of ['One', 'Two', 'Three']) await edit(mod, summary);
  await pass(DAY - 3_600, 3_600);
  assert.ok((await deliveries()).every(({ state }) => state === 'waiting'));
  await pass(2 * 3_600, 600);
  assert.deepEqual(
    (await deliveries()).map(({ state, status }) => [state, status]),
    [
      ['parked', 503],
      ['parked', null],
      ['parked', null],
    ],
  );
  const [failed, behind] = await deliveries();
  assert.deepEqual([failed!.message, behind!.message], ['', `The earlier delivery ${failed!.id} failed.`]);
  receiver.got.length = 0;
  receiver.answers = (response) => response.end();
  await pass(DAY, 3_600);
  assert.equal(receiver.got.length, 0);
  const delivery_id = (await deliveries())[1]!.id;
  const replayed = await client.call(replayGameWebhookDelivery, { params: { ...params, delivery_id } });
  assert.equal(replayed.body.state, 'waiting');
  await worker.runDue();
  assert.equal((await client.call(replayGameWebhook, { params })).body.replayed, 2);
  await worker.runDue();
  const ids = (await deliveries()).map(({ event_id }) => event_id);
  assert.deepEqual(
    receiver.got.map(({ body }) => body.id),
    [ids[1], ids[0], ids[2]],
  );
  await client.call(replayGameWebhookDelivery, { params: { ...params, delivery_id } });
  await worker.runDue();
  assert.equal(receiver.got.at(-1)!.body.id, ids[1]);
  assert.ok((await deliveries()).every(({ state }) => state === 'delivered'));
});

test('a delivery that waits for its next attempt is sent at once on request', async () => {
  const receiver = await aReceiver((response) => response.writeHead(503).end());
  const game = await api.aGame();
  const { client, params, deliveries } = await aWebhook(game, receiver.url);
  await edit(await api.aMod({ game }), 'Better');
  await worker.runDue();
  const { id: delivery_id, state } = (await deliveries())[0]!;
  assert.equal(state, 'waiting');
  receiver.answers = (response) => response.end();
  await client.call(replayGameWebhookDelivery, { params: { ...params, delivery_id } });
  await worker.runDue();
  assert.equal((await deliveries())[0]!.state, 'delivered');
});

test('losing a job loses no delivery', async () => {
  const receiver = await aReceiver();
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  await aWebhook(game, receiver.url);
  await edit(mod, 'Better');
  await api.app().db.write(({ query }) => query.deleteFrom('jobs').where('kind', '=', 'webhooks.deliver').execute());
  await pass(120);
  assert.deepEqual(typesOf(receiver.got), ['MOD_EDITED']);
});

test('a new secret signs beside the old one until that ends, or replaces it at once', async () => {
  const receiver = await aReceiver();
  const game = await api.aGame();
  const { client, params, secret } = await aWebhook(game, receiver.url);
  const sent = async () => {
    assert.equal((await client.call(testGameWebhook, { params })).body.success, true);
    return receiver.got.at(-1)!;
  };
  const second = (await client.call(rotateGameWebhookSecret, { params, query: { overlap: 600 } })).body;
  assert.notEqual(second.secret, secret);
  let message = await sent();
  assert.ok(isSigned(message, secret) && isSigned(message, second.secret));
  api.clock.advance(600);
  message = await sent();
  assert.ok(!isSigned(message, secret) && isSigned(message, second.secret));
  const third = (await client.call(rotateGameWebhookSecret, { params, query: { overlap: 0 } })).body;
  message = await sent();
  assert.ok(!isSigned(message, second.secret) && isSigned(message, third.secret));
  const listed = await client.call(getGameWebhooks, { params });
  for (const each of [secret, second.secret, third.secret]) assert.ok(!listed.text.includes(each));
});

test('a test event returns the endpoint’s answer', async () => {
  const receiver = await aReceiver((response) => response.writeHead(418).end());
  const game = await api.aGame();
  const { client, params, deliveries } = await aWebhook(game, receiver.url);
  const { body } = await client.call(testGameWebhook, { params });
  assert.deepEqual([body.success, body.status, body.error, body.message], [false, 418, null, '']);
  assert.deepEqual(typesOf(receiver.got), ['WEBHOOK_TEST']);
  await client.call(editGameWebhook, { params, body: { url: 'https://10.0.0.1/' } });
  const refused = (await client.call(testGameWebhook, { params })).body;
  assert.equal(refused.status, null);
  assert.match(refused.error!, /^forbidden/);
  const headers = { 'accept-language': 'de' };
  const inGerman = (await client.call(testGameWebhook, { params, headers })).body;
  assert.equal(inGerman.message, 'Die Adresse liegt nicht im öffentlichen Internet.');
  assert.deepEqual(await deliveries(), []);
});

test('only administrators of the game can see and change its endpoints', async () => {
  const [game, other] = [await api.aGame(), await api.aGame()];
  const { params } = await aWebhook(game, 'https://example.org/hook');
  const [manager, moderator] = [await api.aUser(), await api.aUser()];
  await api.joins(manager, game, MANAGER);
  await api.joins(moderator, game, MODERATOR);
  const body = { name: 'Mine', url: 'https://example.org/' };
  const delivery = { ...params, delivery_id: 1 };
  const tries = async (client: Client, status: number, ref: number, at = params) => {
    await client.refused(editGameWebhook, { params: at, body }, status, ref);
    await client.refused(deleteGameWebhook, { params: at }, status, ref);
    await client.refused(rotateGameWebhookSecret, { params: at }, status, ref);
    await client.refused(testGameWebhook, { params: at }, status, ref);
    await client.refused(getGameWebhookDeliveries, { params: at }, status, ref);
    await client.refused(replayGameWebhook, { params: at }, status, ref);
    await client.refused(replayGameWebhookDelivery, { params: { ...delivery, ...at } }, status, ref);
  };
  for (const user of [manager, moderator, other.owner]) {
    const client = await api.as(user);
    await tries(client, 403, 14039);
    await client.refused(addGameWebhook, { params: { game_id: game.id }, body }, 403, 14039);
    await client.refused(getGameWebhooks, { params: { game_id: game.id } }, 403, 14039);
  }
  await tries(await api.as(other.owner), 404, 14000, { ...params, game_id: other.id });
  const owner = await api.as(game.owner);
  await owner.refused(replayGameWebhookDelivery, { params: { ...params, delivery_id: 999_999 } }, 404, 14000);
  assert.equal((await owner.call(deleteGameWebhook, { params })).status, 204);
  await tries(owner, 404, 14000);
});

test('an endpoint needs an address without a password and known events, and a game has at most ten', async () => {
  const game = await api.aGame();
  const client = await api.as(game.owner);
  const add = (body: Record<string, string | string[]>) =>
    client.call(addGameWebhook, { params: { game_id: game.id }, body: { name: 'Studio', ...body } });
  for (const url of ['ftp://example.org', 'example.org', 'https://ada:secret@example.org/', 'javascript:alert(1)'])
    assert.equal((await add({ url })).status, 422, url);
  const url = 'https://example.org/';
  assert.equal((await add({ url, events: ['NOTHING'] })).status, 422);
  const answers = await Promise.all(Array.from({ length: WEBHOOKS_MAX + 6 }, (_, n) => add({ url: `${url}${n}` })));
  assert.equal(answers.filter(({ status }) => status === 201).length, WEBHOOKS_MAX);
  assert.equal(answers.filter(({ status }) => status === 422).length, 6);
});

test('events are recorded if their change commits, and not if it fails; sixteen concurrent ones are all sent in order', async () => {
  const receiver = await aReceiver();
  const game = await api.aGame();
  const { deliveries } = await aWebhook(game, receiver.url, { events: ['MOD_EDITED'] });
  const mod = await api.aMod({ game });
  await Promise.all(Array.from({ length: 16 }, (_, index) => edit(mod, `Summary ${index}`)));
  await Promise.all([worker.runDue(), composeWorker(api.app()).runDue()]);
  const ids = receiver.got.map(({ body }) => body.id);
  assert.deepEqual(
    ids,
    ids.toSorted((a, b) => a - b),
  );
  assert.deepEqual([ids.length, (await deliveries()).length], [16, 16]);
});
