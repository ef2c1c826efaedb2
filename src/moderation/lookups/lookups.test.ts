import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { deleteModOperation } from '../../catalogue/mods/operations.ts';
import { setUserStatus, USER_DELETED } from '../../people/users/users.ts';
import { getResourceOwner } from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const ada = await api.aUser();
const quiet = await api.aGame({ accepted: false });
const shown = await api.aMod({ game, owner: ada });
const deleted = await api.aMod({ game, owner: ada });
await (await api.as(ada)).call(deleteModOperation, { params: { game_id: game.id, mod_id: deleted.id } });
const unseen = [
  await api.aMod({ game, owner: ada, visible: 0 }),
  await api.aMod({ game, owner: ada, accepted: false }),
  await api.aMod({ game: quiet, owner: ada }),
  deleted,
];
const MISSING = 999_999;

async function aFile(mod: Mod, about: { status?: number; withdrawn?: number; kind?: 'file' | 'source' } = {}) {
  const row = await api.app().db.write(({ query }) =>
    query
      .insertInto('modfiles')
      .values({
        mod_id: mod.id,
        game_id: mod.game_id,
        submitted_by: mod.owner.id,
        kind: 'file',
        date_added: 1,
        date_updated: 1,
        date_scanned: 0,
        virus_status: 0,
        virus_positive: 0,
        virustotal_hash: null,
        filesize: 1,
        filesize_uncompressed: 1,
        md5: '',
        sha256: '',
        storage_key: '',
        filename: 'a.zip',
        filename_folded: 'a.zip',
        released: 1,
        version: '',
        version_folded: '',
        changelog: '',
        changelog_folded: '',
        metadata_blob: '',
        metadata_blob_folded: '',
        status: 1,
        withdrawn: 0,
        ...about,
      })
      .returning('id')
      .executeTakeFirstOrThrow(),
  );
  return row.id;
}

const file = await aFile(shown);
const unseenFiles = [await aFile(shown, { status: 3 }), await aFile(shown, { withdrawn: 1 })];
unseenFiles.push(await aFile(shown, { kind: 'source' }));
for (const mod of unseen) unseenFiles.push(await aFile(mod));

test('every signed-in user can look up the submitter of a game, a mod or a file', async () => {
  const client = await api.as(await api.aUser());
  const ownerOf = async (resource_type: string, resource_id: number) =>
    (await client.call(getResourceOwner, { body: { resource_type, resource_id } })).body.id;
  assert.equal(await ownerOf('games', game.id), game.owner.id);
  assert.equal(await ownerOf('mods', shown.id), ada.id);
  assert.equal(await ownerOf('files', file), ada.id);
  const { text } = await client.call(getResourceOwner, { body: { resource_type: 'mods', resource_id: shown.id } });
  assert.ok(!text.includes('email'));
});

test('hidden, deleted and missing content gets the same error', async () => {
  const client = await api.as(await api.aUser());
  const refused = async (resource_type: string, ids: readonly number[], ref: number) => {
    const texts = new Set<string>();
    for (const resource_id of ids)
      texts.add((await client.refused(getResourceOwner, { body: { resource_type, resource_id } }, 404, ref)).text);
    assert.equal(texts.size, 1);
  };
  await refused('games', [quiet.id, MISSING], 14001);
  await refused('mods', [...unseen.map(({ id }) => id), MISSING], 15022);
  await refused('files', [...unseenFiles, MISSING], 15010);
  await client.refused(getResourceOwner, { body: { resource_type: 'users', resource_id: 1 } }, 422, 13009);
});

test('the team of a hidden mod finds it', async () => {
  const body = { resource_type: 'mods', resource_id: unseen[0]!.id };
  assert.equal((await (await api.as(ada)).call(getResourceOwner, { body })).body.id, ada.id);
});

test('URLs with an id redirect to the page', async () => {
  const leadsTo = async (path: string) => {
    const answer = await api.request('GET', path);
    assert.equal(answer.status, 302, path);
    return answer.headers.location;
  };
  const pageOfMod = `https://localhost/g/${game.name_id}/m/${shown.name_id}`;
  assert.equal(await leadsTo(`/search/games/${game.id}`), `https://localhost/g/${game.name_id}`);
  assert.equal(await leadsTo(`/search/mods/${shown.id}`), pageOfMod);
  assert.equal(await leadsTo(`/search/files/${file}`), pageOfMod);
  assert.equal(await leadsTo(`/search/users/${ada.id}/`), `https://localhost/u/${ada.name_id}`);
  const star = await api.aMod({ game, name: '星' });
  assert.equal(await leadsTo(`/search/mods/${star.id}`), encodeURI(`https://localhost/g/${game.name_id}/m/星`));
});

test('a URL of hidden content is not found for any caller, like one of missing content', async () => {
  const gone = await api.aUser();
  await setUserStatus(api.app(), gone.id, USER_DELETED);
  const paths = [`/search/games/${quiet.id}`, `/search/users/${gone.id}`];
  paths.push(...unseen.map(({ id }) => `/search/mods/${id}`), ...unseenFiles.map((id) => `/search/files/${id}`));
  for (const kind of ['games', 'mods', 'files', 'users', 'guides', 'collections', 'constructor'])
    paths.push(`/search/${kind}/${MISSING}`);
  paths.push('/search/mods/1x', '/search/mods/', '/search/mods/1/2');
  const owner = await api.as(ada);
  for (const path of paths)
    for (const authorization of ['Bearer ', `Bearer ${owner.token}`]) {
      const answer = await api.request('GET', path, { headers: { authorization } });
      assert.deepEqual([answer.status, answer.headers.location], [404, undefined], path);
    }
  const sandboxed = await api.request('GET', `/search/mods/${shown.id}`, { host: 'test.localhost' });
  assert.equal(sandboxed.status, 404);
});
