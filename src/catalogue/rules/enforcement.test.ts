import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { type CallInput, type Client, type Game, startApi, type User } from '../../../test/api.ts';
import { modComments } from '../../community/comments/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { decideOverContent } from '../../moderation/moderation/operations.ts';
import { getGameReports, resolveGameReport, submitReportOperation } from '../../moderation/reports/operations.ts';
import { addGameWebhook } from '../../studio/webhooks/operations.ts';
import { addModOperation, editModOperation } from '../mods/operations.ts';
import { addGameRule, editGameRule, getGameRuleDecisions, replayGameRuleDecision, tryGameRule } from './operations.ts';

const api = await startApi({
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32',
    MODSTEAD_TRUST_PROXY: '127.0.0.1',
    MODSTEAD_COUNTRY_HEADER: 'CF-IPCountry',
  },
});
const worker = composeWorker(api.app());
const logo = {
  filename: 'logo.png',
  bytes: await sharp({ create: { width: 512, height: 288, channels: 3, background: '#345' } })
    .png()
    .toBuffer(),
};

const ALWAYS = { all: [] };
const ruleOf = (when: object, fields: object) => ({
  name: 'A rule',
  verdict: 'deny' as const,
  enabled: true,
  ...fields,
  when: JSON.stringify(when),
});

async function aRule(game: Game, when: object, fields: object = {}) {
  const client = await api.as(game.owner);
  const answer = await client.call(addGameRule, { params: { game_id: game.id }, body: ruleOf(when, fields) });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

const newMod = (game: Game, fields: Record<string, string> = {}, headers: Record<string, string> = {}): CallInput => ({
  params: { game_id: game.id },
  body: { name: api.unique('Airship'), summary: 'Flies', ...fields },
  files: { logo },
  headers,
});

const decisionsOf = async (game: Game) =>
  (await (await api.as(game.owner)).call(getGameRuleDecisions, { params: { game_id: game.id } })).body.data;

async function reportsOf(game: Game) {
  const client = await api.as(game.owner);
  return (await client.call(getGameReports, { params: { game_id: game.id } })).body.data;
}

test('a rule with the verdict report opens one report per resource, without a reporter', async () => {
  const game = await api.aGame();
  const rule = await aRule(game, ALWAYS, { verdict: 'report', name: 'Look at it' });
  const other = await aRule(game, ALWAYS, { verdict: 'report', name: 'Look again' });
  const author = await api.aUser();
  const client = await api.as(author);
  const mod = (await client.call(addModOperation, newMod(game))).body;
  const edit = { params: { game_id: game.id, mod_id: mod.id }, body: { summary: 'Flies higher' } };
  for (let round = 0; round < 3; round++) assert.equal((await client.call(editModOperation, edit)).status, 200);
  const reports = await reportsOf(game);
  assert.deepEqual(
    reports.map((report) => [report.resource, report.resource_id, report.rule_id, report.user_id, report.author_id]),
    [
      ['mods', mod.id, rule.id, 0, author.id],
      ['mods', mod.id, other.id, 0, author.id],
    ],
  );
  assert.deepEqual([reports[0]!.name, reports[0]!.summary], ['Look at it', `Look at it (rule ${rule.id}, version 1)`]);
  const params = { game_id: game.id, report_id: reports[0]!.id };
  const headers = { 'accept-language': 'es' };
  const resolved = await (await api.as(game.owner)).call(resolveGameReport, { params, body: {}, headers });
  assert.equal(resolved.body.summary, `Look at it (regla ${rule.id}, versión 1)`);
  await client.call(editModOperation, edit);
  assert.deepEqual(
    (await reportsOf(game)).map(({ rule_id }) => rule_id),
    [other.id, rule.id],
  );
});

test('sixteen concurrent edits make a rule open one report', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  await aRule(game, ALWAYS, { verdict: 'report' });
  const client = await api.as(mod.owner);
  const edits = Array.from({ length: 16 }, (_, n) => ({
    params: { game_id: game.id, mod_id: mod.id },
    body: { summary: `Number ${n}` },
  }));
  const answers = await Promise.all(edits.map((input) => client.call(editModOperation, input)));
  assert.ok(answers.every(({ status }) => status === 200));
  assert.equal((await reportsOf(game)).length, 1);
});

test('comments are reported as comments, and a denied submission is not reported', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  await aRule(game, ALWAYS, { verdict: 'report' });
  await aRule(game, { field: 'payload.content', is: 'contains', value: 'spam' });
  const client = await api.as(await api.aUser());
  const params = { game_id: game.id, mod_id: mod.id };
  const { id } = (await client.call(modComments.add, { params, body: { content: 'Nice' } })).body;
  await client.refused(modComments.add, { params, body: { content: 'spam' } }, 403, 29200);
  assert.deepEqual(
    (await reportsOf(game)).map((report) => [report.resource, report.resource_id]),
    [['comments', id]],
  );
  const [denied, reported] = await decisionsOf(game);
  assert.deepEqual([denied!.verdict, denied!.resource], ['deny', '']);
  assert.deepEqual([reported!.verdict, reported!.resource, reported!.resource_id], ['report', 'comments', id]);
});

interface Got {
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: { id: number; event_type: string; subject: string; data: Record<string, unknown> };
}

/** A studio's own server, which can be made to fail. */
async function aReceiver(game: Game) {
  const receiver = { got: [] as Got[], status: 200, secret: '' };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => (text += chunk));
    request.on('end', () => {
      receiver.got.push({ headers: request.headers, text, body: JSON.parse(text) });
      response.writeHead(receiver.status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  after(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/rules`;
  const body = { name: 'Rules', url, events: ['RULE_MATCHED'] };
  const client = await api.as(game.owner);
  receiver.secret = (await client.call(addGameWebhook, { params: { game_id: game.id }, body })).body.secret;
  return receiver;
}

test('a rule sends a signed event with the rule, its version and the submission to the studio’s endpoint', async () => {
  const game = await api.aGame();
  const receiver = await aReceiver(game);
  const rule = await aRule(game, ALWAYS, { verdict: 'webhook', name: 'Ask us' });
  const params = { game_id: game.id, rule_id: rule.id };
  await (await api.as(game.owner)).call(editGameRule, { params, body: { message: 'Other words' } });
  const author = await api.aUser();
  const mod = (await (await api.as(author)).call(addModOperation, newMod(game, { name: 'Zeppelin' }))).body;
  await worker.runDue();
  const [{ headers, text, body } = {} as Got, ...more] = receiver.got;
  assert.deepEqual([body.event_type, body.subject, more], ['RULE_MATCHED', `mods/${mod.id}`, []]);
  const [decision] = await decisionsOf(game);
  assert.deepEqual(
    { ...body.data, payload: (body.data['payload'] as Record<string, unknown>)['payload.name'] },
    {
      rule_id: rule.id,
      rule_version: 2,
      rule_name: 'Ask us',
      decision_id: decision!.id,
      verdict: 'webhook',
      resource: 'mods',
      resource_id: mod.id,
      operation: 'add-mod',
      user_id: author.id,
      payload: 'Zeppelin',
    },
  );
  const [t, v1] = String(headers['x-service-webhook-token']).split(',');
  const signed = createHmac('sha256', receiver.secret)
    .update(`${t!.slice(2)}.${text}`)
    .digest('hex');
  assert.equal(v1, `v1=${signed}`);
  assert.equal(/127\.0\.0\.1|user\.ip|header\./.test(text), false);
  assert.deepEqual([decision!.verdict, decision!.webhooks], ['webhook', [{ rule_id: rule.id, version: 2 }]]);
  const replay = { params: { game_id: game.id, decision_id: decision!.id } };
  assert.equal((await (await api.as(game.owner)).call(replayGameRuleDecision, replay)).body.same, true);
});

test('the studio gets events in order, including denied submissions, and a failed delivery is retried', async () => {
  const game = await api.aGame();
  const receiver = await aReceiver(game);
  const mod = await api.aMod({ game });
  await aRule(game, ALWAYS, { verdict: 'webhook' });
  await aRule(game, { field: 'payload.summary', is: 'contains', value: 'spam' });
  const client = await api.as(mod.owner);
  const edit = (summary: string) => ({ params: { game_id: game.id, mod_id: mod.id }, body: { summary } });
  receiver.status = 500;
  for (const summary of ['One', 'Two']) await client.call(editModOperation, edit(summary));
  await client.refused(editModOperation, edit('spam'), 403, 29200);
  await worker.runDue();
  receiver.status = 200;
  receiver.got.length = 0;
  for (let round = 0; round < 3; round++) {
    api.clock.advance(60);
    await worker.runDue();
  }
  const summaries = (subject: string) =>
    receiver.got
      .filter(({ body }) => body.subject.startsWith(subject))
      .map(({ body: { data } }) => [(data['payload'] as Record<string, unknown>)['payload.summary'], data['verdict']]);
  assert.deepEqual(summaries('mods/'), [
    ['One', 'webhook'],
    ['Two', 'webhook'],
  ]);
  assert.deepEqual(summaries('rules/'), [['spam', 'deny']]);
});

/** Whether a rule with this condition matches a new mod of this user. */
async function isMet(
  when: object,
  person: User,
  { headers = {}, game }: { headers?: Record<string, string>; game?: Game } = {},
) {
  const of = game ?? (await api.aGame());
  const rule = await aRule(of, when, { name: api.unique('A rule') });
  const { status } = await (await api.as(person)).call(
    addModOperation,
    newMod(of, { summary: api.unique('A mod') }, headers),
  );
  const off = { params: { game_id: of.id, rule_id: rule.id }, body: { enabled: false } };
  await (await api.as(of.owner)).call(editGameRule, off);
  return status === 403;
}

const change = (person: User, columns: Record<string, string | number>) =>
  api.app().db.write(async ({ query }) => {
    await query.updateTable('users').set(columns).where('id', '=', person.id).execute();
  });

test('a rule tests the country from the proxy, then the profile, and matches no unknown country', async () => {
  const person = await api.aUser();
  const german = { field: 'user.country', is: 'in', value: ['de', 'at'] };
  assert.equal(await isMet(german, person), false);
  assert.equal(await isMet({ field: 'user.country', is: 'exists', value: false }, person), true);
  assert.equal(await isMet(german, person, { headers: { 'cf-ipcountry': 'AT' } }), true);
  assert.equal(await isMet(german, person, { headers: { 'cf-ipcountry': 'XX' } }), false);
  await change(person, { country: 'DE' });
  assert.equal(await isMet(german, person), true);
  assert.equal(await isMet(german, person, { headers: { 'cf-ipcountry': 'FR' } }), false);
});

test('a rule tests linked portals, the domain of the address, the age of the account and the level', async () => {
  const person = await api.aUser({ email: 'someone@mail.example' });
  await change(person, { portal_names: JSON.stringify({ steam: 'Gordon' }) });
  assert.equal(await isMet({ field: 'user.portals', is: 'equals', value: 'steam' }, person), true);
  assert.equal(await isMet({ field: 'user.portals', is: 'equals', value: 'psn' }, person), false);
  assert.equal(await isMet({ field: 'user.portals', is: 'exists', value: false }, await api.aUser()), true);
  assert.equal(await isMet({ field: 'user.email_domain', is: 'equals', value: 'mail.example' }, person), true);
  assert.equal(await isMet({ field: 'user.age_days', is: 'below', value: 2 }, person), true);
  api.clock.advance(3 * 86_400);
  assert.equal(await isMet({ field: 'user.age_days', is: 'below', value: 2 }, person), false);
  assert.equal(await isMet({ field: 'user.level', is: 'above', value: 0 }, person), false);
});

test('a rule tests networks of IPv4 and IPv6', async () => {
  const person = await api.aUser();
  const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
  const within = (value: string | string[]) => ({ field: 'user.ip', is: 'in_network', value });
  assert.equal(await isMet(within('192.0.2.0/24'), person, from('192.0.2.77')), true);
  assert.equal(await isMet(within('192.0.2.0/24'), person, from('192.0.3.1')), false);
  assert.equal(await isMet(within(['203.0.113.9', '2001:db8::/32']), person, from('2001:db8::5')), true);
  assert.equal(await isMet(within('::/0'), person, from('192.0.2.1')), false);
  const game = await api.aGame();
  const client: Client = await api.as(game.owner);
  for (const value of ['192.0.2.0/99', 'somewhere', [], 7])
    await client.refused(
      addGameRule,
      { params: { game_id: game.id }, body: ruleOf({ field: 'user.ip', is: 'in_network', value }, {}) },
      422,
      13009,
    );
});

test('a rule tests what a user has in the game: mods, reports against them, denied submissions', async () => {
  const game = await api.aGame();
  const person = await api.aUser();
  const team = await api.as(game.owner);
  const above = (name: string, value: number) => isMet({ field: `user.${name}`, is: 'above', value }, person, { game });
  // Each submission that the rule does not match adds a mod, each that it matches a denial.
  assert.equal(await above('mods', 0), false);
  assert.equal(await above('mods', 0), true);
  assert.equal(await above('denied', 0), true);
  assert.equal(await above('denied', 2), false);
  assert.equal(await above('reports', 0), false);
  const mod = await api.aMod({ game, owner: person });
  const report = { resource: 'mods', id: mod.id, type: 0, summary: 'Wrong' };
  assert.equal((await (await api.as(await api.aUser())).call(submitReportOperation, { body: report })).status, 201);
  assert.equal(await above('reports', 0), true);
  assert.equal(await above('denied', 3), false);
  const deny = { resource: 'mods', id: mod.id, decision: 'deny', reason: '' };
  assert.equal((await team.call(decideOverContent, { params: { game_id: game.id }, body: deny })).status, 204);
  assert.equal(await above('denied', 3), true);
  const trial = ruleOf({ field: 'user.mods', is: 'above', value: 0 }, {});
  const { enabled: _, ...body } = trial;
  assert.ok((await team.call(tryGameRule, { params: { game_id: game.id }, body })).body.met > 0);
});

test('expressions with a large automaton, and too many expressions, are refused', async () => {
  const game = await api.aGame();
  const client = await api.as(game.owner);
  const matching = (value: string) => ({ field: 'payload.name', is: 'matches', value });
  const add = (when: object) => ({ params: { game_id: game.id }, body: ruleOf(when, { verdict: 'report' }) });
  for (const pattern of ['a{1000}', '(?:ab{9}){30}', '\\pL{1,200}'])
    await client.refused(addGameRule, add(matching(pattern)), 422, 13009);
  const fifty = (n: number) => ({ any: Array.from({ length: 50 }, (_, m) => matching(`word ${n} ${m}`)) });
  for (let n = 0; n < 20; n++) assert.equal((await client.call(addGameRule, add(fifty(n)))).status, 201);
  await client.refused(addGameRule, add(matching('one more')), 422, 13009);
  const mod = await (await api.as(await api.aUser())).call(
    addModOperation,
    newMod(game, { name: 'A word 19 49 here' }),
  );
  assert.equal(mod.status, 201);
  assert.equal((await reportsOf(game)).length, 1);
});
