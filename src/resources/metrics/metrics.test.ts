import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, START, startApi } from '../../../test/api.ts';
import { composeWorker } from '../../compose.ts';
import { modComments } from '../comments/operations.ts';
import { countNoted, noteDownload } from '../downloads/counting.ts';
import { addModRating } from '../ratings/operations.ts';
import { subscribeToMod, unsubscribeFromMod } from '../subscriptions/operations.ts';
import {
  addMetricsSecret,
  continueSession,
  deleteMetricsSecret,
  endSession,
  exportGameMetrics,
  getGameMetrics,
  getMetricsSecret,
  getTopCreators,
  getTopMods,
  startSession,
} from './operations.ts';
import { sessionHash } from './signing.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const named = ({ id }: { id: number }) => ({ params: { game_id: id } });
const DAY = 86_400;
let reports = 0;

interface Sent {
  session_id: string;
  session_ts: number;
  session_nonce: string;
  session_order_id: number;
  ids?: number[];
}

async function aMeasuredGame() {
  const game = await api.aGame();
  const team = await api.as(game.owner);
  const { secret } = (await team.call(addMetricsSecret, named(game))).body;
  return { game, team, secret, player: api.withKey(game) };
}

const aReport = (given: Partial<Sent> = {}): Sent => ({
  session_id: `session-${reports}`,
  session_ts: api.clock.now(),
  session_nonce: `nonce-${++reports}`,
  session_order_id: 1,
  ...given,
});

function signed(secret: string, sent: Sent) {
  const { session_id: sessionId, session_ts: ts, session_nonce: nonce, ids = [] } = sent;
  return { ...sent, session_hash: sessionHash(secret, { ids, ts, sessionId, nonce }) };
}

const asJson = { headers: { 'content-type': 'application/json' } };
const post = (client: Client, step: string, body: unknown) =>
  client.send('POST', `/metrics/sessions/${step}`, { ...asJson, body: JSON.stringify(body) });
const today = async (team: Client, game: Game) => (await team.call(getGameMetrics, named(game))).body.data.at(-1)!;

test('a session in seconds with order ids from 1 is counted with its length', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  const session_id = 'cpp';
  const started = await post(player, 'start', signed(secret, aReport({ session_id, ids: [3, 1, 2] })));
  assert.equal(started.status, 204, started.text);
  api.clock.advance(300);
  assert.equal(
    (await post(player, 'heartbeat', signed(secret, aReport({ session_id, session_order_id: 2 })))).status,
    204,
  );
  api.clock.advance(100);
  assert.equal((await post(player, 'end', signed(secret, aReport({ session_id, session_order_id: 3 })))).status, 204);
  const { sessions, session_seconds } = await today(team, game);
  assert.deepEqual([sessions, session_seconds], [1, 400]);
});

test('a session in milliseconds with order ids from 2, as a list of keys and values, is one as well', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  const sent = signed(secret, aReport({ session_ts: api.clock.now() * 1_000 + 7, session_order_id: 2, ids: [5] }));
  const pairs = Object.entries(sent).map(([Key, Value]) => ({ Key, Value }));
  assert.equal((await post(player, 'start', pairs)).status, 204);
  assert.equal((await today(team, game)).sessions, 1);
  assert.equal((await post(player, 'start', [1])).status, 400);
});

test('forms are taken too, and the game may stand in a token', async () => {
  const { game, secret } = await aMeasuredGame();
  const person = await api.as(await api.aUser(), { gameId: game.id });
  const body = signed(secret, aReport());
  assert.equal((await person.call(startSession, { body: { ...body } })).status, 204);
  const elsewhere = await api.as(await api.aUser());
  await elsewhere.refused(startSession, { body: { ...signed(secret, aReport()) } }, 404, 14001);
});

test('what is not signed with the secret of the game is refused', async () => {
  const { secret, player, team, game } = await aMeasuredGame();
  const other = await aMeasuredGame();
  const refused = (body: Sent) => player.refused(startSession, { body: { ...body } as never }, 422, 13009);
  await refused(signed(other.secret, aReport()));
  await refused({ ...signed(secret, aReport()), session_nonce: 'other' });
  await refused({ ...signed(secret, aReport()), ids: [1] });
  await team.call(deleteMetricsSecret, named(game));
  await refused(signed(secret, aReport()));
});

test('nothing is taken twice, too late, or after the end', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  const refused = async (step: typeof startSession, body: Sent, field: string) => {
    const answer = await player.refused(step, { body: { ...body } as never }, 422, 13009);
    assert.deepEqual(Object.keys(answer.body.error.errors!), [field]);
  };
  const session_id = 'once';
  const start = signed(secret, aReport({ session_id }));
  await post(player, 'start', start);
  await refused(startSession, start, 'session_nonce');
  await refused(continueSession, { ...start, session_order_id: 9 }, 'session_nonce');
  await refused(startSession, signed(secret, aReport({ session_id })), 'session_id');
  await refused(continueSession, signed(secret, aReport({ session_id })), 'session_order_id');
  await refused(continueSession, signed(secret, aReport()), 'session_id');
  await refused(startSession, signed(secret, aReport({ session_ts: api.clock.now() - 2 * DAY })), 'session_ts');
  await post(player, 'end', signed(secret, aReport({ session_id, session_order_id: 2 })));
  await refused(endSession, signed(secret, aReport({ session_id, session_order_id: 3 })), 'session_id');
  assert.equal((await today(team, game)).sessions, 1);
});

test('of sixteen equal reports at once one is counted', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  const start = signed(secret, aReport());
  const answers = await Promise.all(Array.from({ length: 16 }, () => post(player, 'start', start)));
  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  assert.equal((await today(team, game)).sessions, 1);
});

test('a secret that can no longer be read is said to be our fault', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  await api.app().db.write(async ({ query }) => {
    const other = api.app('sandbox').secrets.seal('metrics', 'x');
    await query.updateTable('metrics_secrets').set({ sealed: other }).where('game_id', '=', game.id).execute();
  });
  await player.refused(startSession, { body: { ...signed(secret, aReport()) } }, 500, 29100);
  await team.refused(getMetricsSecret, named(game), 500, 29100);
  assert.equal((await team.call(addMetricsSecret, named(game))).status, 201);
});

test('administrators alone see and change the secret, which is stored sealed', async () => {
  const { game, team, secret } = await aMeasuredGame();
  assert.equal((await team.call(getMetricsSecret, named(game))).body.secret, secret);
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  const client = await api.as(manager);
  for (const operation of [getMetricsSecret, addMetricsSecret, deleteMetricsSecret])
    await client.refused(operation, named(game), 403, 14039);
  const { sealed } = await api
    .app()
    .db.query.selectFrom('metrics_secrets')
    .selectAll()
    .where('game_id', '=', game.id)
    .executeTakeFirstOrThrow();
  assert.equal(sealed.includes(secret), false);
});

test('downloads, subscriptions, ratings and comments of a day are counted as they happen', async () => {
  const mod = await api.aMod();
  await api.aFile(mod);
  const params = { game_id: mod.game_id, mod_id: mod.id };
  const [one, other] = [await api.as(await api.aUser()), await api.as(await api.aUser())];
  await one.call(subscribeToMod, { params });
  await other.call(subscribeToMod, { params });
  await other.call(unsubscribeFromMod, { params });
  await one.call(addModRating, { params, body: { rating: 1 } });
  await (await api.as(await api.aUser())).call(modComments.add, { params, body: { content: 'Nice' } });
  for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.2'])
    noteDownload(api.app(), { mod_id: mod.id, game_id: mod.game_id, platform: 'windows', address });
  await countNoted(api.app());
  const moderator = await api.aUser();
  await api.joins(moderator, { id: mod.game_id } as Game, 1);
  const team = await api.as(moderator);
  const day = await today(team, { id: mod.game_id } as Game);
  assert.deepEqual(
    [day.downloads, day.subscribers, day.active_users, day.ratings_positive, day.ratings_negative],
    [2, 1, 5, 1, 0],
  );
  const top = (await team.call(getTopMods, named({ id: mod.game_id }))).body.data[0]!;
  assert.deepEqual([top.rank, top.rank_before, top.id, top.name, top.downloads], [1, 0, mod.id, mod.name, 2]);
  const creators = (await team.call(getTopCreators, named({ id: mod.game_id }))).body.data;
  assert.deepEqual(
    creators.map(({ id, downloads }) => [id, downloads]),
    [[mod.owner.id, 2]],
  );
});

test('figures are for the team alone, and a span of more than a year or backwards is refused', async () => {
  const { game, team } = await aMeasuredGame();
  const stranger = await api.as(await api.aUser());
  for (const operation of [getGameMetrics, exportGameMetrics, getTopMods, getTopCreators])
    await stranger.refused(operation, named(game), 403, 29500);
  for (const query of [
    { from: '2026-02-02', to: '2026-02-01' },
    { from: '2025-01-01', to: '2026-02-01' },
    { from: '2026-02-30' },
  ])
    await team.refused(getGameMetrics, { ...named(game), query }, 422, 13009);
});

test('the table for spreadsheets has a line for each day', async () => {
  const { game, team } = await aMeasuredGame();
  const answer = await team.call(exportGameMetrics, {
    ...named(game),
    query: { from: '2026-02-01', to: '2026-02-02' },
  });
  assert.equal(answer.headers['content-type'], 'text/csv; charset=utf-8');
  assert.equal(answer.headers['content-disposition'], `attachment; filename="metrics-${game.id}.csv"`);
  const [head, ...lines] = answer.text.trimEnd().split('\r\n');
  assert.match(head!, /^date,downloads,subscribers,/);
  assert.deepEqual(lines, ['2026-02-01,0,0,0,0,0,0,0', '2026-02-02,0,0,0,0,0,0,0']);
});

test('a year of a busy game is read from one row a day', async () => {
  const { game, team } = await aMeasuredGame();
  const last = Math.floor(START / DAY);
  const counts = {
    subscribers: 1,
    active_users: 9,
    ratings_positive: 1,
    ratings_negative: 1,
    sessions: 5,
    session_seconds: 60,
  };
  await api.app().db.write(async ({ query }) => {
    const days = Array.from({ length: 365 }, (_, index) => ({
      game_id: game.id,
      day: last - index,
      downloads: 7,
      ...counts,
    }));
    await query.insertInto('metrics_days').values(days).execute();
    for (let month = 0; month < 12; month++) {
      const of = new Date(START * 1_000).getUTCFullYear() * 12 + month;
      const mods = Array.from({ length: 2_000 }, (_, index) => ({
        game_id: game.id,
        month: of,
        mod_id: 1_000_000 + index,
        downloads: index,
        subscribers: 0,
      }));
      await query.insertInto('metrics_mod_months').values(mods).execute();
    }
  });
  const date = (day: number) => new Date(day * DAY * 1_000).toISOString().slice(0, 10);
  const query = { from: date(last - 364), to: date(last) };
  const times: number[] = [];
  for (let round = 0; round < 5; round++) {
    const begun = performance.now();
    const { body } = await team.call(getGameMetrics, { ...named(game), query });
    await team.call(getTopMods, named(game));
    times.push(performance.now() - begun);
    assert.equal(
      body.data.reduce((sum, { downloads }) => sum + downloads, 0),
      365 * 7,
    );
  }
  // The fastest of five: others share the machine.
  assert.ok(Math.min(...times) < 50, String(times));
});

test('what was kept to count nothing twice is forgotten', async () => {
  const { secret, player } = await aMeasuredGame();
  await post(player, 'start', signed(secret, aReport()));
  const worker = composeWorker(api.app());
  api.clock.advance(4 * DAY);
  await worker.runDue();
  for (const table of ['metrics_seen', 'metrics_sessions', 'metrics_active'] as const)
    assert.deepEqual(await api.app().db.query.selectFrom(table).selectAll().execute(), []);
});
