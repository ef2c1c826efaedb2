import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { getGame, getGameStats } from '../games/operations.ts';
import { getMod, getMods } from '../mods/operations.ts';
import { displayText, wilsonLowerBound } from '../mods/rating-scores.ts';
import { rankMods } from '../mods/stats.ts';
import { getModStats, getModsStats } from './operations.ts';
import {
  countDownload,
  countRating,
  countSubscription,
  foldCounts,
  popularity,
  refreshStats,
  STATS_LIFETIME_SECONDS,
} from './stats.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const app = api.app();
const HOUR = 3_600;
const DAY = 24 * HOUR;

const inputOf = (mod: Mod) => ({ params: { game_id: mod.game_id, mod_id: mod.id } });
const statsOf = async (mod: Mod) => (await (await api.as(mod.owner)).call(getModStats, inputOf(mod))).body;
const download = (mod: Mod, times = 1) => app.db.write((transaction) => countDownload(app, transaction, mod, times));

test('a new mod is unrated and has no counts', async () => {
  const mod = await api.aMod();
  assert.deepEqual(await statsOf(mod), {
    mod_id: mod.id,
    popularity_rank_position: 0,
    popularity_rank_total_mods: 0,
    downloads_today: 0,
    downloads_total: 0,
    subscribers_total: 0,
    ratings_total: 0,
    ratings_positive: 0,
    ratings_negative: 0,
    ratings_percentage_positive: 0,
    ratings_weighted_aggregate: 0,
    ratings_display_text: 'Unrated',
    date_expires: api.clock.now(),
  });
});

test('counts show in the stats of the mod, in the mod itself and in the stats of its game', async () => {
  const mod = await api.aMod();
  const key = api.withKey(await api.aGame());
  await key.call(getMod, inputOf(mod));
  await download(mod, 3);
  await app.db.write(async (transaction) => {
    await countSubscription(app, transaction, mod, 1);
    await countSubscription(app, transaction, mod, 1);
    await countSubscription(app, transaction, mod, -1);
    for (const rating of [{ positive: 1 }, { positive: 1 }, { negative: 1 }, { positive: 1, negative: -1 }])
      await countRating(app, transaction, mod, rating);
  });
  const stats = await statsOf(mod);
  assert.deepEqual(
    [stats.downloads_today, stats.downloads_total, stats.subscribers_total, stats.ratings_total],
    [3, 3, 1, 3],
  );
  assert.deepEqual(
    [stats.ratings_positive, stats.ratings_negative, stats.ratings_percentage_positive, stats.ratings_display_text],
    [3, 0, 100, 'Positive'],
  );
  assert.ok(Math.abs(stats.ratings_weighted_aggregate - wilsonLowerBound(3, 3)) < 1e-12);
  assert.deepEqual((await key.call(getMod, inputOf(mod))).body.stats, stats);
  await api.counted();
  assert.deepEqual(await statsOf(mod), stats);
  assert.deepEqual((await key.call(getMod, inputOf(mod))).body.stats, stats);
  const { body } = await key.call(getGameStats, { params: { game_id: mod.game_id } });
  assert.deepEqual([body.mods_downloads_today, body.mods_downloads_total, body.mods_subscribers_total], [3, 3, 1]);
});

test('only their teams read the stats of mods that are not public', async () => {
  const mod = await api.aMod({ visible: 0 });
  const key = api.withKey(await api.aGame());
  await key.refused(getModStats, inputOf(mod), 404, 15022);
  assert.equal((await key.call(getModsStats, { params: { game_id: mod.game_id } })).body.result_total, 0);
  assert.equal((await statsOf(mod)).mod_id, mod.id);
});

test('the stats of a game’s mods are filtered, sorted and paged', async () => {
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  await api.aMod();
  for (const [index, mod] of mods.entries()) await download(mod, [5, 1, 9][index]);
  await app.db.write((transaction) => countRating(app, transaction, mods[1]!, { negative: 1 }));
  await api.counted();
  const places = async (query: Record<string, string | number>) => {
    const { body } = await api.withKey(game).call(getModsStats, { params: { game_id: game.id }, query });
    return body.data.map(({ mod_id }) => mods.findIndex(({ id }) => id === mod_id));
  };
  assert.deepEqual(await places({}), [0, 1, 2]);
  assert.deepEqual(await places({ _sort: 'downloads_total' }), [1, 0, 2]);
  assert.deepEqual(await places({ _sort: '-downloads_today', _limit: 2 }), [2, 0]);
  assert.deepEqual(await places({ _sort: '-ratings_negative', _limit: 1 }), [1]);
  assert.deepEqual(await places({ 'mod_id-in': `${mods[0]!.id},${mods[2]!.id}` }), [0, 2]);
  assert.deepEqual(await places({ 'downloads_total-min': 5 }), [0, 2]);
  assert.deepEqual(await places({ ratings_display_text: 'Negative' }), [1]);
});

test('concurrent counts are neither lost nor counted twice', async () => {
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  const expected = mods.map(() => ({ downloads: 0, subscribers: 0, positive: 0, negative: 0 }));
  const writer = async (who: number) => {
    for (let turn = 0; turn < 12; turn += 1) {
      const place = (who * 5 + turn) % mods.length;
      const [mod, sum] = [mods[place]!, expected[place]!];
      const [downloads, subscribers] = [1 + (turn % 3), turn % 4 === 3 ? -1 : 1];
      const rating = { positive: turn % 3 === 0 ? 1 : 0, negative: turn % 5 === 0 ? 1 : 0 };
      await Promise.all([
        download(mod, downloads),
        app.db.write((transaction) => countSubscription(app, transaction, mod, subscribers)),
        app.db.write((transaction) => countRating(app, transaction, mod, rating)),
      ]);
      sum.downloads += downloads;
      sum.subscribers += subscribers;
      sum.positive += rating.positive;
      sum.negative += rating.negative;
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, who) => writer(who)));
  for (const [index, mod] of mods.entries()) {
    const { downloads, subscribers, positive, negative } = expected[index]!;
    const total = positive + negative;
    const stats = await statsOf(mod);
    assert.deepEqual(
      [stats.downloads_today, stats.downloads_total, stats.subscribers_total, stats.ratings_positive],
      [downloads, downloads, subscribers, positive],
    );
    assert.deepEqual([stats.ratings_total, stats.ratings_negative], [total, negative]);
    assert.equal(stats.ratings_display_text, displayText(positive, total));
    assert.equal(stats.ratings_weighted_aggregate, wilsonLowerBound(positive, total));
    await api.counted();
    assert.deepEqual(await statsOf(mod), stats);
    const row = await app.db.query.selectFrom('mods').selectAll().where('id', '=', mod.id).executeTakeFirstOrThrow();
    assert.deepEqual(
      [row.downloads_today, row.downloads_total, row.subscribers_total, row.ratings_weighted_aggregate, row.popularity],
      [downloads, downloads, subscribers, stats.ratings_weighted_aggregate, popularity(stats)],
    );
    const hours = await app.db.query
      .selectFrom('mod_download_hours')
      .selectAll()
      .where('mod_id', '=', mod.id)
      .execute();
    assert.equal(
      hours.reduce((sum, hour) => sum + hour.downloads, 0),
      downloads,
    );
  }
  const sum = (name: 'downloads' | 'subscribers') => expected.reduce((total, each) => total + each[name], 0);
  const { body } = await api.withKey(game).call(getGameStats, { params: { game_id: game.id } });
  assert.deepEqual(
    [body.mods_downloads_today, body.mods_downloads_total, body.mods_subscribers_total],
    [sum('downloads'), sum('downloads'), sum('subscribers')],
  );
});

test('no count is missing from a mod while it is folded in', async () => {
  const mod = await api.aMod();
  const shown = async () => (await (await api.as(mod.owner)).call(getMod, inputOf(mod))).body.stats.downloads_total;
  for (let downloads = 1; downloads <= 20; downloads += 1) {
    await download(mod);
    const stats = Array.from({ length: 5 }, async () => (await statsOf(mod)).downloads_total);
    const [, ...seen] = await Promise.all([foldCounts(app), ...stats, shown(), shown()]);
    assert.deepEqual(seen, Array(7).fill(downloads));
  }
});

test('the counts in a list are complete once the date that it names has passed', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const listed = async () =>
    (await api.withKey(game).call(getMods, { params: { game_id: game.id } })).body.data[0]!.stats;
  api.clock.advance(1);
  await refreshStats(app);
  const before = await listed();
  assert.equal(before.date_expires, api.clock.now() + STATS_LIFETIME_SECONDS);
  await download(mod, 5);
  assert.deepEqual([(await statsOf(mod)).downloads_total, (await listed()).downloads_total], [5, 0]);
  api.clock.advance(before.date_expires + 1 - api.clock.now());
  await refreshStats(app);
  const after = await listed();
  assert.deepEqual([after.downloads_total, after.date_expires], [5, api.clock.now() + STATS_LIFETIME_SECONDS]);
});

test('the public mods of a game are ranked by popularity when its stats have expired, and not before', async () => {
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  await api.aMod({ game, visible: 0 });
  await download(mods[1]!, 2);
  await download(mods[2]!, 7);
  const ranks = async () =>
    (await api.withKey(game).call(getMods, { params: { game_id: game.id } })).body.data.map(({ stats }) => [
      stats.popularity_rank_position,
      stats.popularity_rank_total_mods,
    ]);
  await refreshStats(app);
  assert.deepEqual(await ranks(), Array(3).fill([0, 0]));
  api.clock.advance(1);
  await refreshStats(app);
  const ranked = [3, 2, 1].map((position) => [position, 3]);
  assert.deepEqual(await ranks(), ranked);
  assert.equal((await statsOf(mods[0]!)).date_expires, api.clock.now() + STATS_LIFETIME_SECONDS);
  await download(mods[0]!, 100);
  await refreshStats(app);
  assert.deepEqual(await ranks(), ranked);
  api.clock.advance(STATS_LIFETIME_SECONDS + 1);
  await refreshStats(app);
  assert.deepEqual(
    await ranks(),
    [1, 3, 2].map((position) => [position, 3]),
  );
});

test('a mod that moves by less than a hundredth keeps its place among the popular until the ranks are renewed', async () => {
  const game = await api.aGame();
  const [first, second] = [await api.aMod({ game, name: 'Ancient Castle' }), await api.aMod({ game, name: 'Castle' })];
  for (const mod of [first, second]) await download(mod, 100);
  await api.counted();
  const subscribe = (mod: Mod, people: number) =>
    app.db.write((transaction) => countSubscription(app, transaction, mod, people));
  const listed = async (query: Record<string, string>) =>
    (await api.withKey(game).call(getMods, { params: { game_id: game.id }, query })).body.data.map(({ id }) => id);
  const popular = async () => {
    await api.counted();
    return Promise.all([listed({ _sort: 'popular' }), listed({ _q: 'castle', _sort: 'popular' })]);
  };
  const inOrder = (...mods: Mod[]) => [mods.map(({ id }) => id), mods.map(({ id }) => id)];
  await subscribe(second, 9);
  assert.deepEqual(await popular(), inOrder(first, second));
  assert.deepEqual(await listed({ _sort: 'subscribers' }), [second.id, first.id]);
  api.clock.advance(1);
  await refreshStats(app);
  assert.deepEqual(await popular(), inOrder(second, first));
  assert.equal((await statsOf(second)).popularity_rank_position, 1);
  await subscribe(first, 20);
  assert.deepEqual(await popular(), inOrder(first, second));
});

test('mods beyond one batch each have a rank of their own', async () => {
  const [game, owner] = [await api.aGame(), await api.aUser()];
  for (let i = 0; i < 12; i += 1) await api.aMod({ game, owner, stats: { popularity: i % 3 } });
  const ranked = async () => {
    const mods = app.db.query.selectFrom('mods as m').innerJoin('mod_stats as s', 's.mod_id', 'm.id');
    const rows = mods.select('s.popularity_rank_position as position').where('m.game_id', '=', game.id);
    return (await rows.orderBy('m.popularity', 'desc').orderBy('m.id').execute()).map(({ position }) => position);
  };
  for (const atOnce of [1, 3, 5, 12, 13]) {
    await app.db.write(({ query }) => query.updateTable('mod_stats').set({ popularity_rank_position: 0 }).execute());
    await rankMods(app, game.id, { total: 12, dateExpires: 0, atOnce }, async () => {});
    assert.deepEqual(
      await ranked(),
      Array.from({ length: 12 }, (_, i) => i + 1),
    );
  }
});

test('downloads_today covers the last day, and the total all downloads', async () => {
  api.clock.advance(HOUR - (api.clock.now() % HOUR));
  const mod = await api.aMod();
  const renewed = async () => {
    await refreshStats(app);
    const stats = await statsOf(mod);
    const { body } = await api.withKey(await api.aGame()).call(getGameStats, { params: { game_id: mod.game_id } });
    return [stats.downloads_today, stats.downloads_total, body.mods_downloads_today, body.mods_downloads_total];
  };
  await download(mod, 3);
  api.clock.advance(12 * HOUR);
  await download(mod, 4);
  api.clock.advance(12 * HOUR);
  assert.deepEqual(await renewed(), [7, 7, 7, 7]);
  api.clock.advance(2 * HOUR);
  assert.deepEqual(await renewed(), [4, 7, 4, 7]);
  api.clock.advance(DAY);
  assert.deepEqual(await renewed(), [0, 7, 0, 7]);
});

test('the response of the game shows new stats once they are refreshed, with the daily average', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const figures = async () => (await api.withKey(game).call(getGame, { params: { game_id: game.id } })).body.stats;
  await figures();
  await download(mod, 30);
  api.clock.advance(10 * DAY);
  await refreshStats(app);
  const stats = await figures();
  assert.deepEqual(
    [stats.mods_downloads_total, stats.mods_downloads_daily_average, stats.date_expires],
    [30, 3, api.clock.now() + STATS_LIFETIME_SECONDS],
  );
});

test('two workers that refresh at once leave consistent stats', async () => {
  const game = await api.aGame();
  const mods = await Promise.all(Array.from({ length: 8 }, () => api.aMod({ game })));
  for (const mod of mods) await download(mod, 2);
  api.clock.advance(2 * DAY);
  await Promise.all([refreshStats(app), refreshStats(app), ...mods.map((mod) => download(mod))]);
  for (const mod of mods) assert.equal((await statsOf(mod)).downloads_today, 1);
  await api.counted();
  const { body } = await api.withKey(game).call(getGameStats, { params: { game_id: game.id } });
  assert.deepEqual([body.mods_downloads_today, body.mods_downloads_total], [8, 24]);
});
