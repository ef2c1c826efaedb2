import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Game, type Mod, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import { getModEvents } from '../../catalogue/events/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { getMod, getMods } from '../../catalogue/mods/operations.ts';
import { addCollectionOperation, getCollectionMods } from '../../community/collections/operations.ts';
import { getUserSubscriptions, subscribeToMod } from '../../community/subscriptions/operations.ts';
import { downloadModfile } from '../downloads/operations.ts';
import {
  addModfileOperation,
  editModfileOperation,
  getModfile,
  getModfiles,
  managePlatformStatus,
} from './operations.ts';

// Files that were uploaded before their game had platforms.

const api = await startApi();
const on = (platform: string | undefined): Record<string, string> =>
  platform === undefined ? {} : { 'x-modio-platform': platform };
const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const fileOf = (mod: Mod, id: number) => ({ ...at(mod), file_id: id });

async function upload(mod: Mod, body = {}): Promise<number> {
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ a: api.unique('a') }) } };
  const {
    status,
    body: file,
    text,
  } = await (await api.as(mod.owner)).call(addModfileOperation, { params: at(mod), body, files });
  assert.equal(status, 201, text);
  return file.id;
}

/** Windows and Linux are open, PlayStation 5 is moderated, Switch is locked. */
async function begins(game: Game): Promise<void> {
  const platforms = { windows: [0, 0], linux: [0, 0], ps5: [1, 0], switch: [0, 1] };
  const fields = Object.entries(platforms).flatMap(([platform, [moderated, locked]], i) => [
    [`platforms[${i}][platform]`, platform],
    [`platforms[${i}][moderated]`, moderated],
    [`platforms[${i}][locked]`, locked],
  ]);
  const team = await api.as(game.owner);
  const { status, text } = await team.call(editGameOperation, {
    params: { game_id: game.id },
    body: Object.fromEntries(fields),
  });
  assert.equal(status, 200, text);
}

const PLACES = [undefined, 'windows', 'linux', 'ps5', 'switch', 'mac'];

/** The file that the mod shows per platform, alone and in each list that contains mods. */
async function shown(mod: Mod): Promise<(number | undefined)[]> {
  const client = await api.as(mod.owner);
  const places: (number | undefined)[] = [];
  for (const platform of PLACES) {
    const headers = on(platform);
    const alone = (await client.call(getMod, { params: at(mod), headers })).body.modfile?.id;
    const translated = await client.call(getMod, {
      params: at(mod),
      headers: { ...headers, 'accept-language': 'de', 'x-modio-portal': 'steam' },
    });
    assert.equal(translated.body.modfile?.id, alone);
    for (const portal of [{}, { 'x-modio-portal': 'steam' }]) {
      const list = await client.call(getMods, {
        params: { game_id: mod.game_id },
        query: { id: mod.id },
        headers: { ...headers, ...portal } as Record<string, string>,
      });
      const expected = platform !== undefined && alone === undefined ? [] : [alone];
      assert.deepEqual(
        list.body.data.map(({ modfile }) => modfile?.id),
        expected,
        `on ${platform}`,
      );
      assert.equal(list.body.result_total, expected.length);
    }
    places.push(alone);
  }
  return places;
}

/** The results of a platform’s client that requests the file, finds it in the list, and downloads it. */
async function serves(game: Game, mod: Mod, id: number): Promise<number[]> {
  const client = api.withKey(game);
  const statuses = [];
  for (const platform of PLACES) {
    const headers = on(platform);
    const { status } = await client.call(downloadModfile, { params: fileOf(mod, id), headers });
    assert.equal(
      (await client.call(getModfile, { params: fileOf(mod, id), headers })).status,
      status,
      `on ${platform}`,
    );
    const { body } = await client.call(getModfiles, { params: at(mod), query: { id }, headers });
    assert.equal(body.result_total, status === 200 ? 1 : 0, `on ${platform}`);
    statuses.push(status);
  }
  return statuses;
}

async function decide(game: Game, mod: Mod, id: number, body: Record<string, readonly string[]>) {
  const answer = await (await api.as(game.owner)).call(managePlatformStatus, { params: fileOf(mod, id), body });
  assert.equal(answer.status, 200, answer.text);
  return Object.fromEntries(answer.body.platforms.map(({ platform, status }) => [platform, status]));
}

const activate = async (mod: Mod, id: number, active = true) =>
  (await api.as(mod.owner)).call(editModfileOperation, { params: fileOf(mod, id), body: { active } });

const changesOf = async (mod: Mod) =>
  (await (await api.as(mod.owner)).call(getModEvents, { params: at(mod) })).body.data.filter(
    ({ event_type }) => event_type === 'MODFILE_CHANGED',
  ).length;

async function earlier() {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const [old, live, draft] = [await upload(mod), await upload(mod), await upload(mod, { active: false })];
  await begins(game);
  return { game, mod, old, live, draft };
}

const EVERYWHERE = [200, 200, 200, 200, 404, 404];
const NOWHERE = [404, 404, 404, 404, 404, 404];

test('a file from before its game had platforms stays live on every supported platform that is not locked', async () => {
  const { game, mod, old, live, draft } = await earlier();
  assert.deepEqual(await shown(mod), [live, live, live, live, undefined, undefined]);
  assert.deepEqual(await serves(game, mod, live), EVERYWHERE);
  assert.deepEqual(await serves(game, mod, old), EVERYWHERE);
  assert.deepEqual(await serves(game, mod, draft), NOWHERE);
});

test('collections and subscriptions contain such a mod on the same platforms', async () => {
  const { game, mod, live } = await earlier();
  const player = await api.as(await api.aUser());
  await player.call(subscribeToMod, { params: at(mod) });
  const collection = await player.call(addCollectionOperation, {
    params: { game_id: game.id },
    body: { name: api.unique('Such mods'), summary: 'Mods that are older', mod_ids: [mod.id] },
  });
  assert.equal(collection.status, 201, collection.text);
  const params = { game_id: game.id, collection_id: collection.body.id };
  for (const [platform, expected] of [
    ['ps5', [live]],
    ['linux', [live]],
    ['switch', []],
    ['mac', []],
  ] as const) {
    const inCollection = await player.call(getCollectionMods, { params, headers: on(platform) });
    assert.deepEqual(
      inCollection.body.data.map(({ modfile }) => modfile?.id),
      expected,
      platform,
    );
    const mine = await player.call(getUserSubscriptions, { query: { game_id: game.id }, headers: on(platform) });
    assert.deepEqual(
      mine.body.data.map(({ modfile }) => modfile?.id),
      expected,
      platform,
    );
  }
});

test('approving such a file succeeds, and changes nothing for players who already have it', async () => {
  const { game, mod, live } = await earlier();
  const before = await changesOf(mod);
  assert.deepEqual(await decide(game, mod, live, { approved: ['ps5'] }), { linux: 1, ps5: 1, windows: 1 });
  assert.deepEqual(await shown(mod), [live, live, live, live, undefined, undefined]);
  assert.deepEqual(await serves(game, mod, live), EVERYWHERE);
  assert.equal(await changesOf(mod), before);
  const { body } = await api.withKey(game).call(getMod, { params: at(mod) });
  assert.deepEqual(
    body.platforms,
    ['linux', 'ps5', 'windows'].map((platform) => ({ platform, modfile_live: live })),
  );
});

test('denying such a file removes it from that platform only', async () => {
  const { game, mod, live, old } = await earlier();
  assert.deepEqual(await decide(game, mod, live, { denied: ['ps5'] }), { linux: 1, ps5: 2, windows: 1 });
  assert.deepEqual(await shown(mod), [live, live, live, undefined, undefined, undefined]);
  assert.deepEqual(await serves(game, mod, live), [200, 200, 200, 404, 404, 404]);
  assert.deepEqual(await decide(game, mod, old, { denied: ['linux'] }), { linux: 2, ps5: 1, windows: 1 });
  assert.deepEqual(await shown(mod), [live, live, live, undefined, undefined, undefined]);
  assert.deepEqual(await serves(game, mod, old), [200, 200, 404, 200, 404, 404]);
  const team = await api.as(game.owner);
  const locked = { params: fileOf(mod, live), body: { approved: ['switch'] } };
  await team.refused(managePlatformStatus, locked, 422, 13009);
});

test('a newer file replaces it on the platforms that it names, and the older one stays on the others', async () => {
  const { game, mod, live } = await earlier();
  const linux = await upload(mod, { platforms: ['linux'] });
  assert.deepEqual(await shown(mod), [linux, live, linux, live, undefined, undefined]);
  const all = await upload(mod);
  assert.deepEqual(await shown(mod), [all, all, all, live, undefined, undefined], 'ps5 has not approved it yet');
  await decide(game, mod, all, { approved: ['ps5'] });
  await activate(mod, all);
  assert.deepEqual(await shown(mod), [all, all, all, all, undefined, undefined]);
  await activate(mod, live);
  assert.deepEqual(await shown(mod), [live, live, live, live, undefined, undefined], 'it may still run there');
});

test('a file that was never released awaits approval on moderated platforms, like a new file', async () => {
  const { game, mod, live, draft } = await earlier();
  await activate(mod, draft);
  assert.deepEqual(await shown(mod), [draft, draft, draft, live, undefined, undefined]);
  assert.deepEqual(await decide(game, mod, draft, { approved: ['ps5'] }), { linux: 1, ps5: 1, windows: 1 });
  await activate(mod, draft);
  assert.deepEqual(await shown(mod), [draft, draft, draft, draft, undefined, undefined]);
});

test('recalling such a file removes it from every platform', async () => {
  const { game, mod, live } = await earlier();
  await activate(mod, live, false);
  assert.deepEqual(
    await shown(mod),
    PLACES.map(() => undefined),
  );
  assert.deepEqual(await serves(game, mod, live), NOWHERE);
});

test('concurrent decisions and releases leave every platform with a file that may run there', async () => {
  const { game, mod, live, draft } = await earlier();
  await Promise.all([
    decide(game, mod, live, { denied: ['windows'] }),
    decide(game, mod, live, { denied: ['ps5'] }),
    activate(mod, draft),
    decide(game, mod, draft, { denied: ['linux'] }),
  ]);
  const places = await shown(mod);
  assert.equal(places[3], undefined, 'ps5 denied the one and did not approve the other');
  assert.ok(places[2] === live || places[2] === undefined, 'linux denied the newer one');
  for (const id of places.slice(1)) if (id !== undefined) assert.ok([live, draft].includes(id));
});
