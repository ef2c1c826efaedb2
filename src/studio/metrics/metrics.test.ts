import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { leastCpuMs, relativeCpuTime } from '../../../test/cpu-time.ts';
import { modComments } from '../../community/comments/operations.ts';
import { addModRating } from '../../community/ratings/operations.ts';
import { subscribeToMod, unsubscribeFromMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { flushDownloads, queueDownload } from '../../files/downloads/counting.ts';
import { insertMany } from '../../platform/database/bulk.ts';
import { DUPLICATE_WINDOW_SECONDS } from '../../platform/database/duplicate-requests.ts';
import { sessionHash } from '../../records/metrics/signing.ts';
import {
  addMetricsSecret,
  continueSession,
  deleteMetricsSecret,
  endSession,
  exportGameMetrics,
  exportModMetrics,
  getGameMetrics,
  getGameMetricsMonths,
  getMetricsSecret,
  getModMetrics,
  getTopCreators,
  getTopMods,
  startSession,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_TRUST_PROXY: '127.0.0.1' }, writesRows: true });
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
const today = async (team: Client, game: Game) => {
  await api.counted();
  return (await team.call(getGameMetrics, named(game))).body.data.at(-1)!;
};

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

test('a session in milliseconds with order ids from 2, as a list of keys and values, is counted, too', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  const sent = signed(secret, aReport({ session_ts: api.clock.now() * 1_000 + 7, session_order_id: 2, ids: [5] }));
  const pairs = Object.entries(sent).map(([Key, Value]) => ({ Key, Value }));
  assert.equal((await post(player, 'start', pairs)).status, 204);
  assert.equal((await today(team, game)).sessions, 1);
  assert.equal((await post(player, 'start', [1])).status, 400);
});

test('reports can be forms, and the game can come from a token', async () => {
  const { game, secret } = await aMeasuredGame();
  const person = await api.as(await api.aUser(), { gameId: game.id });
  const body = signed(secret, aReport());
  assert.equal((await person.call(startSession, { body: { ...body } })).status, 204);
  const elsewhere = await api.as(await api.aUser());
  await elsewhere.refused(startSession, { body: { ...signed(secret, aReport()) } }, 404, 14001);
});

test('reports that are not signed with the secret of the game are refused', async () => {
  const { secret, player, team, game } = await aMeasuredGame();
  const other = await aMeasuredGame();
  const refused = (body: Sent) => player.refused(startSession, { body: { ...body } as never }, 422, 13009);
  await refused(signed(other.secret, aReport()));
  await refused({ ...signed(secret, aReport()), session_nonce: 'other' });
  await refused({ ...signed(secret, aReport()), ids: [1] });
  await team.call(deleteMetricsSecret, named(game));
  await refused(signed(secret, aReport()));
});

test('repeated reports, late reports and reports after the end are refused', async () => {
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

test('of sixteen equal concurrent reports, one is counted', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  const start = signed(secret, aReport());
  const answers = await Promise.all(Array.from({ length: 16 }, () => post(player, 'start', start)));
  assert.equal(answers.filter(({ status }) => status === 204).length, 1);
  assert.equal((await today(team, game)).sessions, 1);
});

test('a secret that can no longer be decrypted is a server error', async () => {
  const { game, team, secret, player } = await aMeasuredGame();
  await api.app().db.write(async ({ query }) => {
    const other = api.app('sandbox').secrets.seal('metrics', 'x');
    await query.updateTable('metrics_secrets').set({ sealed: other }).where('game_id', '=', game.id).execute();
  });
  api.clock.advance(DUPLICATE_WINDOW_SECONDS + 1);
  await player.refused(startSession, { body: { ...signed(secret, aReport()) } }, 500, 29100);
  await team.refused(getMetricsSecret, named(game), 500, 29100);
  assert.equal((await team.call(addMetricsSecret, named(game))).status, 201);
});

test('only administrators can see and change the secret, which is stored encrypted', async () => {
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
    queueDownload(api.app(), { mod_id: mod.id, game_id: mod.game_id, platform: 'windows', address });
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
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

test('only the team can read metrics, and a range of more than a year or backwards is refused', async () => {
  const { game, team } = await aMeasuredGame();
  const stranger = await api.as(await api.aUser());
  for (const operation of [getGameMetrics, exportGameMetrics, getGameMetricsMonths, getTopMods, getTopCreators])
    await stranger.refused(operation, named(game), 403, 29500);
  for (const query of [
    { from: '2026-02-02', to: '2026-02-01' },
    { from: '2025-01-01', to: '2026-02-01' },
    { from: '2026-02-30' },
  ])
    await team.refused(getGameMetrics, { ...named(game), query }, 422, 13009);
  for (const query of [{ from: '2026-02', to: '2026-01' }, { from: '2020-01', to: '2026-02' }, { from: '2026-13' }])
    await team.refused(getGameMetricsMonths, { ...named(game), query }, 422, 13009);
});

test('the CSV export has a line for each day', async () => {
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

interface Busy {
  readonly mods: number;
  readonly creators: number;
}

/** A game with very many mods and creators, whose mods are downloaded on every day of a year. */
async function aBusyGame({ mods, creators }: Busy) {
  const { game, team } = await aMeasuredGame();
  const app = api.app();
  const pattern = await api.aMod({ game });
  const last = Math.floor(api.clock.now() / DAY);
  const thisMonth =
    new Date(api.clock.now() * 1_000).getUTCFullYear() * 12 + new Date(api.clock.now() * 1_000).getUTCMonth();
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    const bulk = { transaction, dialect: app.db.dialect };
    const { id: _mod, ...mod } = await query
      .selectFrom('mods')
      .selectAll()
      .where('id', '=', pattern.id)
      .executeTakeFirstOrThrow();
    const { id: _user, ...user } = await query
      .selectFrom('users')
      .selectAll()
      .where('id', '=', pattern.owner.id)
      .executeTakeFirstOrThrow();
    const userId = (n: number) => game.id * 1_000_000 + n;
    const modId = userId;
    const users = Array.from({ length: creators }, (_, n) => ({
      id: userId(n),
      ...user,
      email: null,
      name_id: `creator-${game.id}-${n}`,
    }));
    await insertMany(bulk, 'users', users);
    const rows = Array.from({ length: mods }, (_, n) => ({
      id: modId(n),
      ...mod,
      name: `Busy ${n}`,
      name_id: `busy-${n}`,
      submitted_by: userId(n % creators),
    }));
    await insertMany(bulk, 'mods', rows);
    const counts = { subscribers: 1, ratings_positive: 1, ratings_negative: 1, sessions: 5, session_seconds: 60 };
    const of = { game_id: game.id, downloads: 7, active_users: 9, ...counts };
    await insertMany(
      bulk,
      'metrics_days',
      Array.from({ length: 365 }, (_, n) => ({ ...of, day: last - n })),
    );
    for (let back = 0; back < 12; back++) {
      const month = thisMonth - back;
      await insertMany(bulk, 'metrics_months', [{ ...of, month }]);
      // Another order in every month, with many ties.
      const figures = (n: number) => ({
        game_id: game.id,
        month,
        downloads: (n * 7_919 + back * 31) % 1_000,
        subscribers: n % 5,
      });
      await insertMany(
        bulk,
        'metrics_mod_months',
        rows.map(({ id }, n) => ({ ...figures(n), mod_id: id })),
      );
      await insertMany(
        bulk,
        'metrics_creator_months',
        users.map(({ id }, n) => ({ ...figures(n), user_id: id })),
      );
    }
    if (app.db.dialect === 'postgres') await sql`analyze`.execute(query);
  });
  return { game, team, last };
}

test('a year of a busy game, its tables and its rankings each take less than 50 ms of CPU time', async () => {
  const { game, team, last } = await aBusyGame({ mods: 5_000, creators: 1_000 });
  const date = (day: number) => new Date(day * DAY * 1_000).toISOString().slice(0, 10);
  const query = { from: date(last - 364), to: date(last) };
  const reads = {
    days: async () => {
      let downloads = 0;
      for (const _offset of [0, 100, 200, 300]) {
        const page = (await team.call(getGameMetrics, { ...named(game), query: { ...query, _offset } })).body;
        assert.deepEqual([page.result_total, page.result_limit, page.result_offset], [365, 100, _offset]);
        downloads += page.data.reduce((sum, day) => sum + day.downloads, 0);
      }
      assert.equal(downloads, 365 * 7);
    },
    csv: async () => {
      const { text } = await team.call(exportGameMetrics, { ...named(game), query });
      assert.equal(text.trimEnd().split('\r\n').length, 366);
    },
    months: async () => {
      const { data } = (await team.call(getGameMetricsMonths, named(game))).body;
      assert.deepEqual([data.length, data[0]!.active_users], [12, 9]);
    },
    mods: async () => {
      const { data } = (await team.call(getTopMods, named(game))).body;
      assert.deepEqual(
        [data.length, data[0]!.downloads, data.every(({ rank }, n) => rank === n + 1)],
        [100, 999, true],
      );
    },
    creators: async () => assert.equal((await team.call(getTopCreators, named(game))).body.data.length, 100),
  };
  const bound = 50 * relativeCpuTime();
  for (const [name, read] of Object.entries(reads)) {
    await read();
    const least = await leastCpuMs(bound, read);
    assert.ok(least < bound, `${name}: ${least} ms of CPU time, of ${bound}`);
  }
});

test('the ranking of a month and of the previous month matches a full sort', async () => {
  const { game, team } = await aBusyGame({ mods: 300, creators: 20 });
  const { data } = (await team.call(getTopMods, named(game))).body;
  const rows = await api
    .app()
    .db.query.selectFrom('metrics_mod_months')
    .selectAll()
    .where('game_id', '=', game.id)
    .execute();
  const [before, present] = [...new Set(rows.map(({ month }) => month))].sort((a, b) => a - b).slice(-2);
  const sorted = (month: number) =>
    rows
      .filter((row) => row.month === month)
      .sort((a, b) => b.downloads - a.downloads || a.mod_id - b.mod_id)
      .map(({ mod_id }) => mod_id);
  assert.deepEqual(
    data.map(({ id, rank_before }) => [id, rank_before]),
    sorted(present!)
      .slice(0, 100)
      .map((id) => [id, sorted(before!).indexOf(id) + 1]),
  );
});

/** The active users of today and of this month, as the game’s team reads them. */
async function activeIn(mod: Mod): Promise<{ day: number; month: number }> {
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
  const moderator = await api.aUser();
  await api.joins(moderator, { id: mod.game_id }, 1);
  const team = await api.as(moderator);
  await api.counted();
  const months = (await team.call(getGameMetricsMonths, named({ id: mod.game_id }))).body.data;
  return {
    day: (await today(team, { id: mod.game_id } as Game)).active_users,
    month: months.at(-1)!.active_users,
  };
}

const placeOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const from = (address: string, more = {}) => ({ headers: { 'x-forwarded-for': address, ...more } });
const downloads = (mod: Mod, address: string, platform = 'windows', userId?: number) =>
  queueDownload(api.app(), { mod_id: mod.id, game_id: mod.game_id, platform, address, userId });

async function aModToUse(): Promise<Mod> {
  const mod = await api.aMod();
  await api.aFile(mod);
  return mod;
}

/** Later days of a test stay in the same month. */
function toTheFirstOfAMonth(): void {
  const now = new Date(api.clock.now() * 1_000);
  const next = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 1) / 1_000;
  api.clock.advance(next - api.clock.now());
}

test('a user counts as active once, whatever they do, on any platform and from any address', async () => {
  const mod = await aModToUse();
  const person = await api.aUser();
  const client = await api.as(person);
  const params = placeOf(mod);
  await client.call(subscribeToMod, { params, ...from('192.0.2.1') });
  await client.call(addModRating, { params, body: { rating: 1 }, ...from('192.0.2.2') });
  await client.call(modComments.add, { params, body: { content: 'Nice' }, ...from('192.0.2.1') });
  for (const platform of ['windows', 'ps5', 'linux']) downloads(mod, '192.0.2.3', platform, person.id);
  assert.deepEqual(await activeIn(mod), { day: 1, month: 1 });
});

test('anonymous downloads count an address once, and not if a signed-in user acts from it', async () => {
  const mod = await aModToUse();
  const params = placeOf(mod);
  downloads(mod, '198.51.100.1');
  downloads(mod, '198.51.100.1', 'ps5');
  downloads(mod, '198.51.100.2');
  assert.deepEqual(await activeIn(mod), { day: 2, month: 2 });
  const [ada, bob] = [await api.as(await api.aUser()), await api.as(await api.aUser())];
  await ada.call(subscribeToMod, { params, ...from('198.51.100.1') });
  assert.deepEqual(await activeIn(mod), { day: 2, month: 2 });
  await ada.call(addModRating, { params, body: { rating: 1 }, ...from('198.51.100.2') });
  assert.deepEqual(await activeIn(mod), { day: 1, month: 1 });
  await bob.call(subscribeToMod, { params, ...from('198.51.100.1') });
  downloads(mod, '198.51.100.1', 'linux');
  assert.deepEqual(await activeIn(mod), { day: 2, month: 2 });
});

test('a user who is active on several days counts on each of them, and once in the month', async () => {
  toTheFirstOfAMonth();
  const mod = await aModToUse();
  const params = placeOf(mod);
  const person = await api.aUser();
  for (let day = 0; day < 3; day++) {
    const client = await api.as(person);
    await client.call(addModRating, { params, body: { rating: day % 2 === 0 ? 1 : 0 }, ...from('203.0.113.1') });
    downloads(mod, '203.0.113.9');
    assert.deepEqual(await activeIn(mod), { day: 2, month: 2 });
    api.clock.advance(DAY);
    await composeWorker(api.app()).runDue();
  }
  toTheFirstOfAMonth();
  await (await api.as(person)).call(addModRating, { params, body: { rating: 0 }, ...from('203.0.113.1') });
  assert.deepEqual(await activeIn(mod), { day: 1, month: 1 });
});

test('sixteen concurrent users count as sixteen, and sixteen concurrent actions of one user as one', async () => {
  const mod = await aModToUse();
  const params = placeOf(mod);
  const people = await Promise.all(Array.from({ length: 16 }, async () => api.as(await api.aUser())));
  await Promise.all(people.map((client, n) => client.call(subscribeToMod, { params, ...from(`192.0.2.${n + 1}`) })));
  const [one] = people;
  const body = { rating: 1 };
  await Promise.all(people.map((_, n) => one!.call(addModRating, { params, body, ...from(`192.0.2.${n + 100}`) })));
  assert.deepEqual(await activeIn(mod), { day: 16, month: 16 });
});

test('deleting a comment makes nobody active', async () => {
  const mod = await aModToUse();
  const params = placeOf(mod);
  const author = await api.as(await api.aUser());
  const { id } = (await author.call(modComments.add, { params, body: { content: 'Nice' } })).body;
  const owner = await api.as(mod.owner);
  assert.equal((await owner.call(modComments.remove, { params: { ...params, comment_id: id } })).status, 204);
  assert.equal((await activeIn(mod)).day, 1);
});

test('the rows that prevent double counting are deleted', async () => {
  const { secret, player } = await aMeasuredGame();
  await post(player, 'start', signed(secret, aReport()));
  const worker = composeWorker(api.app());
  api.clock.advance(40 * DAY);
  await worker.runDue();
  for (const table of ['metrics_seen', 'metrics_sessions', 'metrics_active', 'metrics_active_months'] as const)
    assert.deepEqual(await api.app().db.query.selectFrom(table).selectAll().execute(), []);
});

test('the team of a mod sees its days, in total and by platform, and others do not', async () => {
  const mod = await aModToUse();
  const author = await api.as(mod.owner);
  const of = { params: { game_id: mod.game_id, mod_id: mod.id } };
  const fan = await api.as(await api.aUser());
  await fan.call(subscribeToMod, { ...of, body: {} });
  await fan.call(addModRating, { ...of, body: { rating: -1 } });
  for (const platform of ['windows', ''])
    queueDownload(api.app(), { mod_id: mod.id, game_id: mod.game_id, platform, address: `of ${platform}` });
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
  await api.counted();
  const { body } = await author.call(getModMetrics, of);
  assert.equal(body.data.length, 30);
  const date = new Date(api.clock.now() * 1_000).toISOString().slice(0, 10);
  const counts = { downloads: 2, subscribers: 1, ratings_positive: 0, ratings_negative: 1 };
  assert.deepEqual(body.data.at(-1), { date, ...counts });
  const onWindows = await author.call(getModMetrics, { ...of, headers: { 'X-Modio-Platform': 'windows' } });
  assert.equal(onWindows.body.data.at(-1)!.downloads, 1);
  const exported = await author.call(exportModMetrics, { ...of, query: { from: date, to: date } });
  assert.equal(exported.text, `date,downloads,subscribers,ratings_positive,ratings_negative\r\n${date},2,1,0,1\r\n`);
  await fan.refused(getModMetrics, of, 403, 29500);
});
