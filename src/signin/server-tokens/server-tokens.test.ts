import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import { addModDependencies } from '../../catalogue/dependencies/operations.ts';
import { deleteGameOperation } from '../../catalogue/games/operations.ts';
import { setOffer } from '../../catalogue/mods/mods.ts';
import { getMod, getMods } from '../../catalogue/mods/operations.ts';
import {
  addCollectionOperation,
  deleteCollectionMods,
  getCollectionMods,
} from '../../community/collections/operations.ts';
import { downloadModfile } from '../../files/downloads/operations.ts';
import { lookupMods } from '../../files/mod-lookups/operations.ts';
import { getModfiles } from '../../files/modfiles/operations.ts';
import {
  addGameServerToken,
  deleteGameServerToken,
  editGameServerSettings,
  getGameServerTokens,
} from './operations.ts';

const api = await startApi({ writesRows: true });
const game = await api.aGame();
const params = { game_id: game.id };
const team = await api.as(game.owner);
const other = await api.aGame();

async function aWorld() {
  const mods: Mod[] = [];
  for (const _ of [1, 2, 3, 4]) {
    const mod = await api.aMod({ game, owner: game.owner });
    await api.aFile(mod);
    mods.push(mod);
  }
  const [listed, needed, paid, beyond] = mods as [Mod, Mod, Mod, Mod];
  await team.call(addModDependencies, { params: of(listed), body: { dependencies: [needed.id] } });
  const app = api.app();
  await app.db.write((transaction) => setOffer(transaction, paid.id, { price: 100 }));
  return { listed, needed, paid, beyond };
}
const of = (mod: Mod) => ({ ...params, mod_id: mod.id });
const token = async (body: object) =>
  (await team.call(addGameServerToken, { params, body: { name: api.unique('Server'), ...body } as never })).body;
const world = await aWorld();
const all = Object.values(world);

/** Which of the mods the client finds, by every way to read them, which must agree. */
async function reads(client: Client, within: readonly Mod[] = all): Promise<number[]> {
  const ids = within.map(({ id }) => id);
  const looked = (await client.call(lookupMods, { params, body: { ids } })).body.mods.map(({ id }) => id);
  const listed = (await client.call(getMods, { params, query: { 'id-in': ids.join(','), _limit: 100 } })).body.data;
  assert.deepEqual(
    listed.map(({ id }) => id),
    looked,
  );
  for (const mod of within) {
    const isSeen = looked.includes(mod.id);
    assert.equal((await client.send('GET', `/games/${game.id}/mods/${mod.id}`)).status, isSeen ? 200 : 404);
    const files = await client.send('GET', `/games/${game.id}/mods/${mod.id}/files`);
    assert.equal(files.status, isSeen ? 200 : 404);
    const file_id = (await team.call(getModfiles, { params: of(mod) })).body.data[0]!.id;
    const download = await client.send('GET', `/games/${game.id}/mods/${mod.id}/files/${file_id}/download`);
    assert.equal(download.status, isSeen ? 200 : 404, `${mod.id} ${download.text}`);
  }
  return looked;
}
const idsOf = (...mods: Mod[]) => mods.map(({ id }) => id);

test('a server token reads and downloads what it is scoped to, with the dependencies, and nothing else', async () => {
  const { listed, needed, paid, beyond } = world;
  const whole = api.withToken((await token({})).access_token);
  assert.deepEqual(await reads(whole), idsOf(listed, needed, paid, beyond));
  const ofMods = api.withToken((await token({ mod_ids: [listed.id, paid.id] })).access_token);
  assert.deepEqual(await reads(ofMods), idsOf(listed, needed, paid));
  const body = { name: 'Event', mod_ids: idsOf(listed, needed, beyond) };
  const collection = await team.call(addCollectionOperation, { params, body });
  assert.equal(collection.status, 201, collection.text);
  const collection_id = collection.body.id;
  const ofCollection = api.withToken((await token({ collection_id })).access_token);
  assert.deepEqual(await reads(ofCollection), idsOf(listed, needed, beyond));
  const shown = await ofCollection.call(getCollectionMods, { params: { ...params, collection_id } });
  assert.deepEqual(shown.body.data.map(({ id }) => id).sort(), idsOf(listed, needed, beyond));
  assert.equal((await ofMods.send('GET', `/games/${game.id}/collections/${collection_id}`)).status, 404);
  await team.call(deleteCollectionMods, {
    params: { ...params, collection_id },
    body: { mod_ids: [beyond.id] } as never,
  });
  assert.deepEqual(await reads(ofCollection), idsOf(listed, needed));
});

test('a server token writes nothing, reads nothing of people, and stays in its game', async () => {
  const server = api.withToken((await token({})).access_token);
  const mod = world.listed;
  const at = `/games/${game.id}/mods/${mod.id}`;
  const refusals: [string, string, number, number][] = [
    ['GET', '/me', 401, 11_059],
    ['GET', `${at}/team`, 403, 11_004],
    ['GET', `${at}/comments`, 403, 11_004],
    ['GET', `/games/${game.id}/mods/events`, 403, 11_004],
    ['GET', '/games', 403, 11_004],
    ['PUT', at, 403, 11_003],
    ['POST', `${at}/subscribe`, 401, 11_059],
    ['GET', `/games/${game.id}/server-tokens`, 401, 11_059],
    ['GET', `/games/${other.id}`, 403, 11_104],
    ['GET', `/games/${other.id}/mods`, 403, 11_104],
  ];
  for (const [method, path, status, ref] of refusals) {
    const answer = await server.send(method, path);
    assert.deepEqual([answer.status, JSON.parse(answer.text).error.error_ref], [status, ref], `${method} ${path}`);
  }
});

test('a signed link downloads its file, also beside a server token of another game', async () => {
  const foreign = await api.aMod({ game: other, owner: other.owner });
  const file = await api.aFile(foreign);
  const at = `/games/${other.id}/mods/${foreign.id}`;
  const { body } = await api.withKey(other).send('GET', `${at}/files/${file.id}`);
  const { pathname, search } = new URL((body as { download: { binary_url: string } }).download.binary_url);
  const server = api.withToken((await token({})).access_token);
  assert.equal((await server.send('GET', pathname.replace(/^\/v1/, '') + search)).status, 200);
  const unsigned = await server.send('GET', `${at}/files/${file.id}/download`);
  assert.deepEqual([unsigned.status, JSON.parse(unsigned.text).error.error_ref], [403, 11_104]);
});

test('a token is shown once, listed without its secret, and ends when it is revoked, expires or its game is deleted', async () => {
  const made = await token({ requests_per_minute: 5 });
  const server = api.withToken(made.access_token);
  const read = async (client: Client) => (await client.send('GET', `/games/${game.id}`)).status;
  assert.equal(await read(server), 200);
  const { data } = (await team.call(getGameServerTokens, { params, query: { _limit: 100 } })).body;
  const { access_token: secret, ...shown } = made;
  assert.deepEqual(
    data.find(({ id }) => id === made.id),
    shown,
  );
  assert.ok(!JSON.stringify(data).includes(secret));
  const rows = await api.app().db.query.selectFrom('server_tokens').selectAll().execute();
  assert.ok(!JSON.stringify(rows).includes(secret));
  const which = { params: { ...params, server_token_id: made.id } };
  await team.call(deleteGameServerToken, which);
  assert.equal(await read(server), 401);
  await team.refused(deleteGameServerToken, which, 400, 11_076);
  const short = api.withToken((await token({ date_expires: api.clock.now() + 60 })).access_token);
  assert.equal(await read(short), 200);
  api.clock.advance(60);
  assert.equal(await read(short), 401);

  const owner = await api.aUser();
  const doomed = await api.aGame({ owner });
  const ofOwner = await api.as(owner);
  const added = await ofOwner.call(addGameServerToken, { params: { game_id: doomed.id }, body: { name: 'Server' } });
  const late = api.withToken(added.body.access_token);
  assert.equal((await late.send('GET', `/games/${doomed.id}`)).status, 200);
  const admin = await api.as(await api.aUser({ admin: true }));
  assert.equal((await admin.call(deleteGameOperation, { params: { game_id: doomed.id } })).status, 204);
  assert.equal((await late.send('GET', `/games/${doomed.id}`)).status, 401);
});

test('mods and collections of a token belong to the game', async () => {
  const foreign = await api.aMod({ game: other });
  const refused = (body: object) =>
    team.refused(addGameServerToken, { params, body: { name: 'Server', ...body } as never }, 422, 13_009);
  await refused({ mod_ids: [foreign.id] });
  await refused({ collection_id: 999_999 });
  await refused({ mod_ids: [world.listed.id], collection_id: 1 });
});

test('where the game allows it, everyone reads and downloads its free content without credentials', async () => {
  const { listed, needed, beyond } = world;
  const nobody = api.nobody();
  assert.equal((await nobody.send('GET', `/games/${game.id}/mods`)).status, 401);
  await team.call(editGameServerSettings, { params, body: { anonymous_access: true } });
  assert.deepEqual(await reads(nobody), idsOf(listed, needed, beyond));
  assert.equal((await nobody.send('GET', `/games/${other.id}/mods`)).status, 401);
  assert.equal((await nobody.send('GET', `/games/${game.id}/mods/${listed.id}/comments`)).status, 401);
  const wrong = api.withToken('made-up');
  assert.equal((await wrong.send('GET', `/games/${game.id}/mods`)).status, 401);
  const statusOfLink = async (mod: Mod) => {
    const { modfile } = (await api.withKey(game).call(getMod, { params: of(mod) })).body;
    assert.ok('download' in modfile);
    const { pathname, search } = new URL(modfile.download.binary_url);
    return (await nobody.send('GET', `${pathname.slice(3)}${search}`)).status;
  };
  assert.deepEqual([await statusOfLink(listed), await statusOfLink(world.paid)], [200, 401]);
  await team.call(editGameServerSettings, { params, body: { anonymous_access: false } });
  assert.equal((await nobody.send('GET', `/games/${game.id}/mods`)).status, 401);
  await nobody.refused(downloadModfile, { params: { ...of(listed), file_id: 1 } }, 401, 11_000);
});
