import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { type Client, type Game, type Mod, startApi } from '../../../test/api.ts';
import { startClamdStub } from '../../../test/clamd.ts';
import { EICAR, zipOf } from '../../../test/zips.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { getMod, getMods } from '../../catalogue/mods/operations.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { subscribeToMod } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getResourceOwner } from '../../moderation/lookups/operations.ts';
import { downloadModfile } from '../downloads/operations.ts';
import { addReleaseConfirmation } from '../releases/operations.ts';
import {
  addModfileOperation,
  deleteModfileOperation,
  editModfileOperation,
  getModfile,
  getModfileContents,
  getModfiles,
  getUserModfiles,
  managePlatformStatus,
} from './operations.ts';

const clamd = await startClamdStub({ after });
const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_CLAMD: clamd.address } });
const worker = composeWorker(api.app());

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const fileOf = (mod: Mod, id: number) => ({ ...at(mod), file_id: id });

async function upload(client: Client, mod: Mod, body = {}, content = api.unique('content')): Promise<number> {
  const files = { filedata: { filename: 'a.zip', bytes: zipOf({ 'a.txt': content }) } };
  const { status, body: file, text } = await client.call(addModfileOperation, { params: at(mod), body, files });
  assert.equal(status, 201, text);
  return file.id;
}

async function platformsOn(game: Game, platforms: Record<string, { moderated?: boolean; locked?: boolean }>) {
  const fields = Object.entries(platforms).flatMap(([platform, { moderated = false, locked = false }], i) => [
    [`platforms[${i}][platform]`, platform],
    [`platforms[${i}][moderated]`, moderated],
    [`platforms[${i}][locked]`, locked],
  ]);
  const params = { game_id: game.id };
  const { status, text } = await (await api.as(game.owner)).call(editGameOperation, {
    params,
    body: Object.fromEntries(fields),
  });
  assert.equal(status, 200, text);
}

/** The callers, and the states of files that each may see. */
const EVERYONE = ['live', 'superseded'] as const;
const TEAM = [
  ...EVERYONE,
  'taken back',
  'inactive',
  'unconfirmed',
  'unscanned',
  'pending',
  'denied',
  'malicious',
] as const;
type State = (typeof TEAM)[number] | 'deleted';
/** Nobody can download files in these states. */
const UNSAFE: readonly State[] = ['unscanned', 'malicious'];

/** A mod with a file in each state, created by the same requests and scans as in production. */
async function aModInEveryState() {
  const game = await api.aGame();
  await platformsOn(game, { windows: {}, ps5: { moderated: true } });
  const owner = await api.aUser({ email: `${api.unique('owner').replaceAll(' ', '')}@example.org` });
  const mod = await api.aMod({ game, owner });
  const [client, team] = [await api.as(owner), await api.as(game.owner)];
  const onWindows = { platforms: ['windows'] };
  const activate = (id: number, active: boolean) =>
    client.call(editModfileOperation, { params: fileOf(mod, id), body: { active } });
  const files = {} as Record<State, number>;
  files['taken back'] = await upload(client, mod, onWindows);
  await worker.runDue();
  assert.equal((await activate(files['taken back'], false)).status, 200);
  files.denied = await upload(client, mod, onWindows);
  await worker.runDue();
  await team.call(managePlatformStatus, { params: fileOf(mod, files.denied), body: { denied: ['windows'] } });
  files.superseded = await upload(client, mod, onWindows);
  await worker.runDue();
  files.live = await upload(client, mod, onWindows);
  files.malicious = await upload(client, mod, { ...onWindows, active: false }, EICAR);
  files.inactive = await upload(client, mod, { ...onWindows, active: false });
  files.pending = await upload(client, mod, { platforms: ['ps5'] });
  files.deleted = await upload(client, mod, { ...onWindows, active: false });
  assert.equal((await client.call(deleteModfileOperation, { params: fileOf(mod, files.deleted) })).status, 204);
  await worker.runDue();
  assert.equal((await client.call(addReleaseConfirmation)).status, 204);
  files.unconfirmed = await upload(client, mod, onWindows);
  await worker.runDue();
  files.unscanned = await upload(client, mod, onWindows);
  return { game, mod, files };
}

const { game, mod, files } = await aModInEveryState();
const stateOf = (id: number) => (Object.keys(files) as State[]).find((state) => files[state] === id);
const linksIn = (data: readonly { id: number; download: { binary_url: string } }[]) =>
  new Map(data.map(({ id, download }) => [id, new URL(download.binary_url).pathname]));
const links = linksIn((await (await api.as(mod.owner)).call(getModfiles, { params: at(mod) })).body.data);

async function aPerson(prepare: (user: { id: number }, client: Client) => Promise<unknown> = async () => {}) {
  const user = await api.aUser();
  await prepare(user, await api.as(user));
  return api.as(user);
}

const actors: [string, Client, readonly State[]][] = [
  ['the key of the game', api.withKey(game), EVERYONE],
  ['the key of another game', api.withKey(await api.aGame()), EVERYONE],
  ['a person’s own key', api.withKey({ ...game, api_key: (await api.aUser()).api_key }), EVERYONE],
  ['a stranger', await aPerson(), EVERYONE],
  ['a subscriber', await aPerson((_, client) => client.call(subscribeToMod, { params: at(mod) })), EVERYONE],
  ['a member of another mod', await aPerson(async (user) => api.joinsMod(user, await api.aMod({ game }), 8)), EVERYONE],
  ['a member of the mod', await aPerson((user) => api.joinsMod(user, mod, 1)), TEAM],
  ['a moderator of the game', await aPerson((user) => api.joins(user, game, MODERATOR)), TEAM],
  ['the owner of the mod', await api.as(mod.owner), TEAM],
  ['a site administrator', await api.as(await api.aUser({ admin: true })), TEAM],
];

for (const [who, client, seen] of actors) {
  test(`${who} finds ${seen === TEAM ? 'every stored file' : 'files that are or were live'}, and counts no other`, async () => {
    const { body } = await client.call(getModfiles, { params: at(mod) });
    const states = body.data.map(({ id }) => stateOf(id));
    assert.deepEqual(states.toSorted(), seen.toSorted());
    assert.equal(body.result_total, seen.length);
    for (const [state, id] of Object.entries(files) as [State, number][]) {
      const found = await client.call(getModfiles, { params: at(mod), query: { id } });
      assert.deepEqual(
        [found.body.result_total, found.body.result_count],
        Array(2).fill(seen.includes(state) ? 1 : 0),
        state,
      );
      const alone = await client.call(getModfile, { params: fileOf(mod, id) });
      assert.equal(alone.status, seen.includes(state) ? 200 : 404, state);
    }
  });

  test(`${who} downloads exactly the files that they find, by a guessed id, by a link, and alone`, async () => {
    for (const [state, id] of Object.entries(files) as [State, number][]) {
      const expected = seen.includes(state) && !UNSAFE.includes(state) ? 200 : 404;
      const guessed = await client.call(downloadModfile, { params: fileOf(mod, id) });
      assert.equal(guessed.status, expected, `${state}: ${guessed.text.slice(0, 200)}`);
      const link = links.get(id);
      if (link === undefined) continue;
      assert.equal((await client.send('GET', link.replace('/v1', ''))).status, expected, `${state}, by a link`);
      const bare = await api.request('GET', link);
      assert.equal(
        bare.status,
        (EVERYONE as readonly State[]).includes(state) ? 200 : 404,
        `${state}, without credentials`,
      );
    }
  });

  test(`${who} sees only the live file in the mod and in the list of mods`, async () => {
    for (const headers of [{}, { 'x-modio-platform': 'windows' }] as Record<string, string>[]) {
      const alone = (await client.call(getMod, { params: at(mod), headers })).body;
      assert.deepEqual(
        [alone.modfile?.id, alone.platforms],
        [files.live, [{ platform: 'windows', modfile_live: files.live }]],
      );
      const { body } = await client.call(getMods, { params: { game_id: game.id }, query: { id: mod.id }, headers });
      assert.deepEqual(
        body.data.map(({ modfile }) => modfile?.id),
        [files.live],
      );
    }
  });
}

test('owner, contents and page of a file that is not public are hidden', async () => {
  const [stranger, owner] = [await aPerson(), await api.as(mod.owner)];
  for (const [state, id] of Object.entries(files) as [State, number][]) {
    const isPublic = (EVERYONE as readonly State[]).includes(state);
    const body = { resource_type: 'files', resource_id: id };
    assert.equal((await stranger.call(getResourceOwner, { body })).status, isPublic ? 200 : 404, state);
    const isThere = !['deleted', 'malicious'].includes(state);
    assert.equal((await owner.call(getResourceOwner, { body })).status, isThere ? 200 : 404, state);
    assert.equal(
      (await stranger.call(getModfileContents, { params: fileOf(mod, id) })).status,
      isPublic ? 403 : 404,
      state,
    );
    assert.equal((await api.request('GET', `/search/files/${id}`)).status, isPublic ? 302 : 404, state);
  }
});

test('users find all files that they have uploaded', async () => {
  const { body } = await (await api.as(mod.owner)).call(getUserModfiles);
  assert.deepEqual(body.data.map(({ id }) => stateOf(id)).toSorted(), TEAM.toSorted());
});

test('a cached response for everyone shows a file while it is live, and no longer after its recall', async () => {
  const other = await api.aMod({ game });
  const creator = await api.as(other.owner);
  const id = await upload(creator, other, { platforms: ['windows'], active: false });
  await worker.runDue();
  const listed = async () => {
    const answers = [];
    for (let i = 0; i < 2; i += 1)
      answers.push((await api.withKey(game).call(getModfiles, { params: at(other) })).body.result_total);
    return answers;
  };
  assert.deepEqual(await listed(), [0, 0]);
  const activate = (active: boolean) =>
    creator.call(editModfileOperation, { params: fileOf(other, id), body: { active } });
  await activate(true);
  assert.deepEqual(await listed(), [1, 1]);
  await activate(false);
  assert.deepEqual(await listed(), [0, 0]);
});

test('an older version stays public when its team sends active=false again', async () => {
  const other = await api.aMod({ game });
  const creator = await api.as(other.owner);
  const old = await upload(creator, other, { platforms: ['windows'] });
  await worker.runDue();
  await upload(creator, other, { platforms: ['windows'] });
  await worker.runDue();
  await creator.call(editModfileOperation, { params: fileOf(other, old), body: { active: false, changelog: 'Old.' } });
  const { status, body } = await api.withKey(game).call(getModfile, { params: fileOf(other, old) });
  assert.deepEqual([status, body.changelog], [200, 'Old.']);
});
