import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import { addModDependencies, getModDependencies } from '../../catalogue/dependencies/operations.ts';
import { getModEvents } from '../../catalogue/events/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { getMod, getMods, getUserMods } from '../../catalogue/mods/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import {
  addModfileOperation,
  editModfileOperation,
  getModfile,
  getModfiles,
  getUserModfiles,
  managePlatformStatus,
} from './operations.ts';

const api = await startApi();
const OPEN = { moderated: 0, locked: 0 };

/** By default Windows is open, PlayStation 5 moderated, and Switch locked. */
async function aGameOn(
  platforms: Record<string, { moderated: number; locked: number }> = {
    windows: OPEN,
    linux: OPEN,
    ps5: { moderated: 1, locked: 0 },
    switch: { moderated: 1, locked: 1 },
  },
): Promise<Game> {
  const game = await api.aGame();
  const fields = Object.entries(platforms).flatMap(([platform, { moderated, locked }], i) => [
    [`platforms[${i}][platform]`, platform],
    [`platforms[${i}][moderated]`, moderated],
    [`platforms[${i}][locked]`, locked],
  ]);
  const answer = await (await api.as(game.owner)).call(editGameOperation, {
    params: { game_id: game.id },
    body: Object.fromEntries(fields),
  });
  assert.equal(answer.status, 200, answer.text);
  return game;
}

const on = (platform: string) => ({ 'X-Modio-Platform': platform });
const paramsOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const fileOf = (mod: Mod, { id }: { id: number }) => ({ ...paramsOf(mod), file_id: id });

async function liveOn(mod: Mod, platform?: string): Promise<number | undefined> {
  const headers = platform === undefined ? {} : on(platform);
  const { body } = await (await api.as(mod.owner)).call(getMod, { params: paramsOf(mod), headers });
  return (body.modfile as { id?: number }).id;
}

async function platformsOf(mod: Mod): Promise<Record<string, number>> {
  const { body } = await (await api.as(mod.owner)).call(getMod, { params: paramsOf(mod) });
  return Object.fromEntries(body.platforms.map(({ platform, modfile_live }) => [platform, modfile_live]));
}

async function decide(game: Game, mod: Mod, file: { id: number }, body: Record<string, readonly string[]>) {
  const answer = await (await api.as(game.owner)).call(managePlatformStatus, { params: fileOf(mod, file), body });
  assert.equal(answer.status, 200, answer.text);
  return Object.fromEntries(answer.body.platforms.map(({ platform, status }) => [platform, status]));
}

const activate = async (mod: Mod, file: { id: number }, active = true) =>
  (await api.as(mod.owner)).call(editModfileOperation, { params: fileOf(mod, file), body: { active } });

const changesOf = async (mod: Mod) =>
  (await (await api.as(mod.owner)).call(getModEvents, { params: paramsOf(mod) })).body.data.filter(
    ({ event_type }) => event_type === 'MODFILE_CHANGED',
  ).length;

test('in a game without platforms a file is live on all of them, whatever platforms the client sent', async () => {
  const mod = await api.aMod();
  const file = await api.aFile(mod, { platforms: ['ps5'] });
  for (const platform of [undefined, 'windows', 'PS5', 'amiga']) assert.equal(await liveOn(mod, platform), file.id);
  assert.deepEqual(await platformsOf(mod), {});
});

test('by default a file is for all open platforms, and live on those that are not moderated', async () => {
  const game = await aGameOn();
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod);
  const { body } = await (await api.as(mod.owner)).call(getModfile, { params: fileOf(mod, file) });
  assert.deepEqual(body.platforms, [
    { platform: 'linux', status: 1 },
    { platform: 'ps5', status: 0 },
    { platform: 'windows', status: 1 },
  ]);
  assert.deepEqual(await platformsOf(mod), { linux: file.id, windows: file.id });
  assert.equal(await liveOn(mod), file.id);
  assert.equal(await liveOn(mod, 'Windows'), file.id);
  assert.equal(await liveOn(mod, 'an unknown one'), file.id);
  assert.equal(await liveOn(mod, 'ps5'), undefined);
  assert.equal(await liveOn(mod, 'switch'), undefined);
});

test('each platform has its own live file, and the latest is shown when the client names no platform', async () => {
  const mod = await api.aMod({ game: await aGameOn() });
  const both = await api.aFile(mod, { platforms: ['windows', 'linux'] });
  const linux = await api.aFile(mod, { platforms: ['linux'] });
  assert.deepEqual(await platformsOf(mod), { linux: linux.id, windows: both.id });
  assert.equal(await liveOn(mod), linux.id);
  await activate(mod, linux, false);
  assert.deepEqual(await platformsOf(mod), { windows: both.id });
  assert.equal(await liveOn(mod), both.id);
  assert.equal(await liveOn(mod, 'linux'), undefined);
});

test('uploads for locked platforms, and for those that the game does not have, are refused', async () => {
  const game = await aGameOn();
  const mod = await api.aMod({ game });
  const client = await api.as(mod.owner);
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ a: 'a' }) } };
  for (const platform of ['switch', 'mac', 'amiga']) {
    const body = { platforms: ['windows', platform] };
    const answer = await client.refused(addModfileOperation, { params: paramsOf(mod), body, files }, 422, 13009);
    assert.match(Object.keys(answer.body.error.errors ?? {}).join(), /^platforms/);
  }
  for (const [platforms, targets] of [
    [['WINDOWS', 'windows'], 1],
    [[''], 3],
  ] as const) {
    const { status, body } = await client.call(addModfileOperation, {
      params: paramsOf(mod),
      body: { platforms },
      files,
    });
    assert.deepEqual([status, body.platforms?.length], [201, targets]);
  }
});

test('on a moderated platform a file goes live with the edit after its approval', async () => {
  const game = await aGameOn({ ps5: { moderated: 1, locked: 0 } });
  const mod = await api.aMod({ game, accepted: false });
  const file = await api.aFile(mod);
  assert.equal(await liveOn(mod), undefined);
  await activate(mod, file);
  assert.equal(await liveOn(mod), undefined);
  assert.deepEqual(await decide(game, mod, file, { approved: ['ps5'] }), { ps5: 1 });
  assert.equal(await liveOn(mod, 'ps5'), undefined);
  assert.equal(await changesOf(mod), 0);
  await activate(mod, file);
  assert.equal(await liveOn(mod, 'ps5'), file.id);
  assert.equal(await liveOn(mod), file.id);
  assert.equal(await changesOf(mod), 1);
  const { body } = await (await api.as(mod.owner)).call(getMod, { params: paramsOf(mod) });
  assert.deepEqual([body.status, body.platforms], [1, [{ platform: 'ps5', modfile_live: file.id }]]);
});

test('a denied file is removed from the platform at once, and another one is shown', async () => {
  const game = await aGameOn();
  const mod = await api.aMod({ game });
  const old = await api.aFile(mod, { platforms: ['windows'] });
  const file = await api.aFile(mod, { platforms: ['linux'] });
  assert.deepEqual(await decide(game, mod, file, { denied: ['LINUX'] }), { linux: 2 });
  assert.deepEqual(await platformsOf(mod), { windows: old.id });
  assert.equal(await liveOn(mod), old.id);
  assert.equal(await changesOf(mod), 3);
  await activate(mod, file);
  assert.deepEqual(await platformsOf(mod), { windows: old.id });
});

test('moderators of the game decide about the platforms of a file, if the game has platforms', async () => {
  const game = await aGameOn();
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod, { platforms: ['ps5'] });
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  const approve = { params: fileOf(mod, file), body: { approved: ['ps5'] } };
  await (await api.as(mod.owner)).refused(managePlatformStatus, approve, 403, 15007);
  const client = await api.as(moderator);
  const fieldsOf = async (body: Record<string, readonly string[]>) => {
    const { error } = (await client.refused(managePlatformStatus, { ...approve, body }, 422, 13009)).body;
    return Object.keys(error.errors ?? {});
  };
  assert.deepEqual(await fieldsOf({ approved: ['windows'] }), ['approved']);
  assert.deepEqual(await fieldsOf({ denied: ['windows'] }), ['denied']);
  assert.deepEqual(await fieldsOf({ approved: ['ps5'], denied: ['ps5'] }), ['denied']);
  assert.equal((await client.call(managePlatformStatus, approve)).status, 200);
  const missing = { ...approve, params: { ...approve.params, file_id: 999_999 } };
  await client.refused(managePlatformStatus, missing, 404, 15010);

  const plain = await api.aMod();
  const everywhere = await api.aFile(plain);
  const admin = await api.as(await api.aUser({ admin: true }));
  await admin.refused(managePlatformStatus, { ...approve, params: fileOf(plain, everywhere) }, 403, 14037);
});

test('lists for a platform contain the mods that are live on it, each with its own file', async () => {
  const game = await aGameOn();
  const [everywhere, windows, none] = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  const [first, second] = [await api.aFile(everywhere), await api.aFile(windows, { platforms: ['windows'] })];
  const linux = await api.aFile(everywhere, { platforms: ['linux'] });
  const list = async (platform?: string) => {
    const headers = platform === undefined ? {} : on(platform);
    const { body } = await api.withKey(game).call(getMods, { params: { game_id: game.id }, headers });
    assert.equal(body.result_total, body.data.length);
    return body.data.map(({ id, modfile }) => [id, (modfile as { id?: number }).id]);
  };
  assert.deepEqual(await list(), [
    [everywhere.id, linux.id],
    [windows.id, second.id],
    [none.id, undefined],
  ]);
  assert.deepEqual(await list('windows'), [
    [everywhere.id, first.id],
    [windows.id, second.id],
  ]);
  assert.deepEqual(await list('linux'), [[everywhere.id, linux.id]]);
  assert.deepEqual(await list('ps5'), []);
});

test('dependencies and the caller’s own mods are listed on every platform, with the file of that platform', async () => {
  const game = await aGameOn();
  const owner = await api.aUser();
  const [above, below] = [await api.aMod({ game, owner }), await api.aMod({ game, owner })];
  const client = await api.as(owner);
  await client.call(addModDependencies, { params: paramsOf(above), body: { dependencies: [below.id] } });
  const file = await api.aFile(below, { platforms: ['windows'] });
  for (const [platform, id] of [
    ['windows', file.id],
    ['linux', undefined],
  ] as const) {
    const headers = on(platform);
    const needed = (await client.call(getModDependencies, { params: paramsOf(above), headers })).body.data;
    assert.deepEqual(
      needed.map(({ modfile }) => (modfile as { id?: number }).id),
      [id],
    );
    const own = (await client.call(getUserMods, { headers })).body.data;
    assert.deepEqual(
      own.map(({ modfile }) => (modfile as { id?: number }).id),
      [undefined, id],
    );
  }
});

test('the teams of the mod and its game find files that await approval, and nobody else does', async () => {
  const game = await aGameOn();
  const [live, waiting] = [await api.aMod({ game }), await api.aMod({ game })];
  const shown = await api.aFile(live, { platforms: ['windows', 'linux'] });
  const pending = await api.aFile(waiting, { platforms: ['ps5'] });
  const stranger = await api.as(await api.aUser());
  const clients: [Client, readonly number[]][] = [
    [stranger, []],
    [await api.as(waiting.owner), [waiting.id]],
    [await api.as(live.owner), []],
    [await api.as(game.owner), [waiting.id]],
  ];
  for (const [client, found] of clients) {
    const mods = async (platform_status: string, headers = {}) =>
      (await client.call(getMods, { params: { game_id: game.id }, query: { platform_status }, headers })).body.data.map(
        ({ id }) => id,
      );
    assert.deepEqual(await mods('pending_only'), found);
    assert.deepEqual(await mods('pending_only', on('ps5')), found);
    assert.deepEqual(await mods('pending_only', on('windows')), []);
    assert.deepEqual(await mods('live_and_pending'), [live.id, ...found]);
    assert.deepEqual(await mods('live_and_pending', on('ps5')), found);
    await client.refused(getMods, { params: { game_id: game.id }, query: { platform_status: 'all' } }, 422, 13009);
    const { body } = await client.call(getModfiles, { params: paramsOf(waiting) });
    assert.equal(body.result_total, found.length);
    if (found.length === 0) await client.refused(getModfile, { params: fileOf(waiting, pending) }, 404, 15010);
  }
  const own = async (platform_status: string) =>
    (await (await api.as(waiting.owner)).call(getUserMods, { query: { platform_status } })).body.data.length;
  assert.deepEqual([await own('pending_only'), await own('live_and_pending')], [1, 1]);
  const team = await api.as(game.owner);
  const files = async (mod: Mod, query: Record<string, string>, headers = {}) =>
    (await team.call(getModfiles, { params: paramsOf(mod), query, headers })).body.data.map(({ id }) => id);
  assert.deepEqual(await files(waiting, { platform_status: 'pending_only' }), [pending.id]);
  assert.deepEqual(await files(waiting, {}, on('ps5')), []);
  assert.deepEqual(await files(waiting, { platform_status: 'live_and_pending' }, on('ps5')), [pending.id]);
  assert.deepEqual(await files(live, { platform_status: 'pending_only' }), []);
  assert.deepEqual(await files(live, {}, on('linux')), [shown.id]);
  assert.deepEqual(await files(live, {}, on('ps5')), []);
  const uploader = await api.as(waiting.owner);
  const mine = await uploader.call(getUserModfiles, { query: { platform_status: 'pending_only' } });
  assert.deepEqual(
    mine.body.data.map(({ id }) => id),
    [pending.id],
  );
});

test('16 concurrent uploads, releases and decisions leave every platform with a file that may run there', async () => {
  const game = await aGameOn();
  const mod = await api.aMod({ game });
  const client = await api.as(mod.owner);
  const team = await api.as(game.owner);
  const names = ['windows', 'linux', 'ps5'];
  await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      const platforms = names.filter((_name, i) => (writer >> i) % 2 === 0);
      const file = await api.aFile(mod, platforms.length > 0 ? { platforms } : {});
      const targets = platforms.length > 0 ? platforms : names;
      const decision = writer % 3 === 0 ? { denied: targets } : { approved: targets };
      const decided = await team.call(managePlatformStatus, { params: fileOf(mod, file), body: decision });
      assert.equal(decided.status, 200, decided.text);
      const edited = await client.call(editModfileOperation, {
        params: fileOf(mod, file),
        body: { active: writer % 5 !== 0 },
      });
      assert.equal(edited.status, 200, edited.text);
    }),
  );
  const files = new Map((await client.call(getModfiles, { params: paramsOf(mod) })).body.data.map((f) => [f.id, f]));
  const live = await platformsOf(mod);
  for (const [platform, id] of Object.entries(live)) {
    const target = files.get(id)?.platforms.find((each) => each.platform === platform);
    assert.equal(target?.status, 1, platform);
    assert.equal(await liveOn(mod, platform), id);
  }
  assert.ok(Object.values(live).includes((await liveOn(mod))!));
});
