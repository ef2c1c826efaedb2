import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import {
  editGameOperation,
  getGame,
  getGameStats,
  getGames,
  getGameTagOptions,
} from '../../catalogue/games/operations.ts';
import { getModStats, getModsStats } from '../../catalogue/stats/operations.ts';
import { refreshStats } from '../../catalogue/stats/stats.ts';
import { addGameTagOptions, addModTags } from '../../catalogue/tags/operations.ts';
import { modComments } from '../../community/comments/operations.ts';
import { addModRating } from '../../community/ratings/operations.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { flushDownloads } from '../../files/downloads/counting.ts';
import { downloadModfile } from '../../files/downloads/operations.ts';
import { addModfileOperation, editModfileOperation } from '../../files/modfiles/operations.ts';
import { sessionHash } from '../../records/metrics/signing.ts';
import {
  addMetricsSecret,
  endSession,
  exportGameMetrics,
  getGameMetrics,
  getGameMetricsMonths,
  getTopCreators,
  getTopMods,
  startSession,
} from './operations.ts';

// What the platform header changes besides mods and files: tags, their counts, statistics and metrics.

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_TRUST_PROXY: '127.0.0.1' } });
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
type Headers = Record<string, string>;
const on = (platform: string | undefined, prefix = 'Modio'): Headers =>
  platform === undefined ? {} : { [`X-${prefix}-Platform`]: platform };

async function upload(mod: Mod, platforms: readonly string[]): Promise<number> {
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ a: api.unique('a') }) } };
  const owner = await api.as(mod.owner);
  const { status, body, text } = await owner.call(addModfileOperation, { params: at(mod), body: { platforms }, files });
  assert.equal(status, 201, text);
  return body.id;
}

/** A game on Windows and Linux with three mods: one for both, one for each. */
async function aGameOnPlatforms() {
  const game = await api.aGame();
  const team = await api.as(game.owner);
  const params = { game_id: game.id };
  const platforms = { 'platforms[0][platform]': 'windows', 'platforms[1][platform]': 'linux' };
  assert.equal((await team.call(editGameOperation, { params, body: platforms })).status, 200);
  const group = { name: 'Theme', type: 'checkboxes', tags: ['Magic', 'Steam'] };
  assert.equal((await team.call(addGameTagOptions, { params, body: group })).status, 201);
  const mods: Record<'both' | 'windows' | 'linux', Mod> = {
    both: await api.aMod({ game }),
    windows: await api.aMod({ game }),
    linux: await api.aMod({ game }),
  };
  const files = {
    both: await upload(mods.both, ['windows', 'linux']),
    windows: await upload(mods.windows, ['windows']),
    linux: await upload(mods.linux, ['linux']),
  };
  const tag = async (mod: Mod, ...tags: string[]) =>
    assert.equal((await (await api.as(mod.owner)).call(addModTags, { params: at(mod), body: { tags } })).status, 201);
  await tag(mods.both, 'Magic');
  await tag(mods.windows, 'Magic', 'Steam');
  await tag(mods.linux, 'Steam');
  return { game, team, params, mods, files };
}

const COUNTS: [string | undefined, Record<string, number>][] = [
  [undefined, { Magic: 2, Steam: 2 }],
  ['windows', { Magic: 2, Steam: 1 }],
  ['LINUX', { Magic: 1, Steam: 1 }],
  ['switch', { Magic: 0, Steam: 0 }],
  ['amiga', { Magic: 2, Steam: 1 }],
];

/** The counts in every answer that contains tags. */
async function countsIn(game: Game, headers: Headers): Promise<Record<string, number>[]> {
  const client = api.withKey(game);
  const params = { game_id: game.id };
  const list = (await client.call(getGames, { query: { id: game.id }, headers })).body.data[0]!;
  return [
    (await client.call(getGameTagOptions, { params, headers })).body.data[0]!.tag_count_map,
    (await client.call(getGame, { params, headers })).body.tag_options[0]!.tag_count_map,
    (await client.call(getGame, { params, headers: { ...headers, 'accept-language': 'de' } })).body.tag_options[0]!
      .tag_count_map,
    list.tag_options[0]!.tag_count_map,
  ];
}

test('tags count the mods that are live on the platform, and are recounted when one is added or removed', async () => {
  const { game, mods, files } = await aGameOnPlatforms();
  for (const [platform, expected] of COUNTS)
    for (const prefix of ['Modio', 'Service'])
      for (let time = 0; time < 2; time += 1)
        for (const counts of await countsIn(game, on(platform, prefix)))
          assert.deepEqual(counts, expected, String(platform));
  const owner = await api.as(mods.windows.owner);
  const params = { ...at(mods.windows), file_id: files.windows };
  await owner.call(editModfileOperation, { params, body: { active: false } });
  for (const counts of await countsIn(game, on('windows'))) assert.deepEqual(counts, { Magic: 1, Steam: 0 });
  await upload(mods.linux, ['windows']);
  for (const counts of await countsIn(game, on('windows'))) assert.deepEqual(counts, { Magic: 1, Steam: 1 });
});

test('a game without platforms counts its tags for all platforms', async () => {
  const game = await api.aGame();
  const body = { name: 'Theme', type: 'checkboxes', tags: ['Magic'] };
  await (await api.as(game.owner)).call(addGameTagOptions, { params: { game_id: game.id }, body });
  const mod = await api.aMod({ game });
  await (await api.as(mod.owner)).call(addModTags, { params: at(mod), body: { tags: ['Magic'] } });
  for (const platform of [undefined, 'windows', 'ps5'])
    for (const counts of await countsIn(game, on(platform))) assert.deepEqual(counts, { Magic: 1 });
});

test('a tag group is limited to the platforms that its game sets, and hidden groups are shown on request', async () => {
  const { game, team, params } = await aGameOnPlatforms();
  const groups = [
    { name: 'Controls', type: 'dropdown', tags: ['Mouse'], platforms: ['WINDOWS'] },
    { name: 'Version', type: 'dropdown', tags: ['1.0'], platforms: ['linux'], hidden: true },
  ];
  for (const body of groups) assert.equal((await team.call(addGameTagOptions, { params, body })).status, 201);
  const client = api.withKey(game);
  const shown = async (platform: string | undefined, show_hidden_tags: boolean) => {
    const asked = { params, query: { show_hidden_tags }, headers: on(platform) };
    const options = (await client.call(getGameTagOptions, asked)).body.data.map(({ name }) => name);
    const ofGame = (await client.call(getGame, asked)).body.tag_options.map(({ name }) => name);
    const listed = (await client.call(getGames, { ...asked, query: { show_hidden_tags, id: game.id } })).body.data[0]!;
    assert.deepEqual(ofGame, options);
    assert.deepEqual(
      listed.tag_options.map(({ name }) => name),
      options,
    );
    return options;
  };
  assert.deepEqual(await shown(undefined, false), ['Theme', 'Controls']);
  assert.deepEqual(await shown(undefined, true), ['Theme', 'Controls', 'Version']);
  assert.deepEqual(await shown('windows', false), ['Theme', 'Controls']);
  assert.deepEqual(await shown('windows', true), ['Theme', 'Controls']);
  assert.deepEqual(await shown('linux', false), ['Theme']);
  assert.deepEqual(await shown('linux', true), ['Theme', 'Version']);
  const { body } = await client.call(getGameTagOptions, { params });
  assert.deepEqual(
    body.data.map(({ platforms }) => platforms),
    [[], ['windows']],
  );
  const wrong = { name: 'Wrong', type: 'dropdown', tags: ['X'], platforms: ['amiga'] };
  await team.refused(addGameTagOptions, { params, body: wrong }, 422, 13009);
});

let addresses = 0;
async function download(
  client: Client,
  mod: Mod,
  file: number,
  platform?: string,
  address = `203.0.113.${++addresses}`,
) {
  const headers = { ...on(platform), 'x-forwarded-for': address };
  const { status, text } = await client.call(downloadModfile, { params: { ...at(mod), file_id: file }, headers });
  assert.equal(status, 200, text.slice(0, 200));
  await Promise.all(api.apps().map((app) => flushDownloads(app)));
}

test('the statistics of mods and of their game are those of the platform', async () => {
  const { game, params, mods, files } = await aGameOnPlatforms();
  const client = api.withKey(game);
  await download(client, mods.both, files.both, 'windows');
  await download(client, mods.both, files.both, 'windows');
  await download(client, mods.both, files.both, 'linux');
  await download(client, mods.linux, files.linux, 'linux');
  await download(client, mods.linux, files.linux);
  const figures = async (platform: string | undefined) => {
    const headers = on(platform);
    const { data, result_total } = (await client.call(getModsStats, { params, headers })).body;
    assert.equal(result_total, data.length);
    for (const stats of data) {
      const alone = (await client.call(getModStats, { params: { ...params, mod_id: stats.mod_id }, headers })).body;
      assert.deepEqual(alone, stats);
      assert.equal(stats.downloads_today, stats.downloads_total);
    }
    const ofGame = (await client.call(getGameStats, { params, headers })).body;
    assert.equal(ofGame.mods_downloads_today, ofGame.mods_downloads_total);
    assert.equal(ofGame.mods_downloads_daily_average > 0, ofGame.mods_downloads_total > 0 && platform !== undefined);
    const downloads = Object.fromEntries(data.map(({ mod_id, downloads_total }) => [mod_id, downloads_total]));
    return { downloads, mods: ofGame.mods_count_total, total: ofGame.mods_downloads_total };
  };
  const { both, windows, linux } = mods;
  await api.counted();
  assert.deepEqual(await figures(undefined), {
    downloads: { [both.id]: 3, [windows.id]: 0, [linux.id]: 2 },
    mods: 3,
    total: 5,
  });
  assert.deepEqual(await figures('windows'), { downloads: { [both.id]: 2, [windows.id]: 0 }, mods: 2, total: 2 });
  assert.deepEqual(await figures('linux'), { downloads: { [both.id]: 1, [linux.id]: 1 }, mods: 2, total: 2 });
  assert.deepEqual(await figures('ps5'), { downloads: {}, mods: 0, total: 0 });
  api.clock.advance(26 * 3_600);
  await refreshStats(api.app());
  const later = (await client.call(getModStats, { params: at(both), headers: on('windows') })).body;
  assert.deepEqual([later.downloads_today, later.downloads_total], [0, 2]);
});

test('metrics are recorded and read per platform', async () => {
  const { game, team, params, mods, files } = await aGameOnPlatforms();
  const { secret } = (await team.call(addMetricsSecret, { params })).body;
  const [ada, bob] = [await api.as(await api.aUser()), await api.as(await api.aUser())];
  const [windows, linux] = [on('windows'), on('linux')];
  await ada.call(subscribeToMod, { params: at(mods.both), headers: windows });
  await bob.call(subscribeToMod, { params: at(mods.both), headers: linux });
  await bob.call(subscribeToMod, { params: at(mods.linux), headers: linux });
  await ada.call(addModRating, { params: at(mods.both), body: { rating: 1 }, headers: windows });
  await bob.call(addModRating, { params: at(mods.both), body: { rating: 1 } });
  const comment = await ada.call(modComments.add, { params: at(mods.both), body: { content: 'Good' }, headers: linux });
  assert.equal(comment.status, 201, comment.text);
  await download(ada, mods.both, files.both, 'windows');
  await download(api.withKey(game), mods.linux, files.linux, 'linux');
  const player = api.withKey(game);
  const report = async (operation: typeof startSession, order: number, headers: Headers) => {
    const sent = { sessionId: 'one', ts: api.clock.now(), nonce: `n${order}`, ids: [] };
    const session_hash = sessionHash(secret, sent);
    const body = {
      session_id: 'one',
      session_ts: sent.ts,
      session_nonce: sent.nonce,
      session_order_id: order,
      session_hash,
    };
    assert.equal((await player.call(operation, { body, headers })).status, 204);
  };
  await report(startSession, 1, linux);
  api.clock.advance(60);
  await report(endSession, 2, {});

  const read = async (headers: Headers) => {
    await api.counted();
    const days = (await team.call(getGameMetrics, { params, headers })).body;
    const months = (await team.call(getGameMetricsMonths, { params, headers })).body;
    for (const list of [days, months]) {
      assert.deepEqual(
        [list.result_count, list.result_total, list.result_offset, list.result_limit],
        [list.data.length, list.data.length, 0, 100],
      );
    }
    const { date, ...today } = days.data.at(-1)!;
    const { month, ...thisMonth } = months.data.at(-1)!;
    assert.deepEqual(thisMonth, today, `${date} ${month}`);
    const { text } = await team.call(exportGameMetrics, { params, headers });
    assert.equal(text.trimEnd().split('\r\n').at(-1), [date, ...Object.values(today)].join(','));
    return today;
  };
  const counts = { ratings_negative: 0, sessions: 0, session_seconds: 0 };
  assert.deepEqual(await read({}), {
    ...counts,
    downloads: 2,
    subscribers: 3,
    active_users: 3,
    ratings_positive: 2,
    sessions: 1,
    session_seconds: 60,
  });
  assert.deepEqual(await read(windows), {
    ...counts,
    downloads: 1,
    subscribers: 1,
    active_users: 1,
    ratings_positive: 1,
  });
  assert.deepEqual(await read(linux), {
    ...counts,
    downloads: 1,
    subscribers: 2,
    active_users: 3,
    ratings_positive: 0,
    sessions: 1,
    session_seconds: 60,
  });
  assert.deepEqual(await read(on('mac')), {
    ...counts,
    downloads: 0,
    subscribers: 0,
    active_users: 0,
    ratings_positive: 0,
  });

  for (const [operation, ids] of [
    [getTopMods, { both: mods.both.id, linux: mods.linux.id }],
    [getTopCreators, { both: mods.both.owner.id, linux: mods.linux.owner.id }],
  ] as const) {
    const ranks = async (headers: Headers) => {
      const { body } = await team.call(operation, { params, headers });
      assert.deepEqual([body.result_count, body.result_total], [body.data.length, body.data.length]);
      return body.data.map(({ id, downloads, subscribers }) => [id, downloads, subscribers]);
    };
    assert.deepEqual(await ranks({}), [
      [ids.both, 1, 2],
      [ids.linux, 1, 1],
    ]);
    assert.deepEqual(await ranks(windows), [[ids.both, 1, 1]]);
    assert.deepEqual(await ranks(linux), [
      [ids.linux, 1, 1],
      [ids.both, 0, 1],
    ]);
  }
});

test('lists of metrics are paged like all other lists', async () => {
  const { team, params } = await aGameOnPlatforms();
  const { body } = await team.call(getGameMetrics, { params, query: { _limit: 7, _offset: 28 } });
  assert.deepEqual(
    [body.data.length, body.result_count, body.result_limit, body.result_offset, body.result_total],
    [2, 2, 7, 28, 30],
  );
});
