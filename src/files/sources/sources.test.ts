import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aCookingGame, aRunner, aSource, cooksOf, gamePath, modPath } from '../../../test/cooking.ts';
import { hashOf } from '../../../test/uploads.ts';
import { zipOf } from '../../../test/zips.ts';
import { deleteModOperation } from '../../catalogue/mods/operations.ts';
import { downloadModfile } from '../downloads/operations.ts';
import { getModfile, getModfiles, getUserModfiles } from '../modfiles/operations.ts';
import { addSourceModfile, browseSourceModfiles, deleteSourceModfile, downloadSourceModfile } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const filedata = () => ({ filename: 'source.zip', bytes: zipOf({ 'a.txt': api.unique('text') }) });

test('a source is for the locked platforms of the game: those that it names, or all', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const targeted = (...names: string[]) => names.map((platform) => ({ platform, status: 3 }));
  assert.deepEqual((await aSource(api, mod)).platforms, targeted('ps5', 'switch'));
  assert.deepEqual((await aSource(api, mod, { platforms: ['SWITCH'] })).platforms, targeted('switch'));
  const author = await api.as(mod.owner);
  const open = { params: modPath(mod), body: { platforms: ['windows'] }, files: { filedata: filedata() } };
  const { body } = await author.refused(addSourceModfile, open, 422, 13009);
  assert.match(body.error.errors!['platforms']!, /ps5, switch/);
  const plain = await api.aMod();
  const without = { params: modPath(plain), files: { filedata: filedata() } };
  await (await api.as(plain.owner)).refused(addSourceModfile, without, 403, 14037);
});

test('a source is not a file of the mod: only the operations for sources list, show and download it', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const source = await aSource(api, mod, { version: '1.0' });
  const author = await api.as(mod.owner);
  const listed = await author.call(browseSourceModfiles, { params: modPath(mod) });
  assert.deepEqual(
    listed.body.data.map(({ id, version }) => [id, version]),
    [[source.id, '1.0']],
  );
  assert.deepEqual((await author.call(getModfiles, { params: modPath(mod) })).body.data, []);
  assert.deepEqual((await author.call(getUserModfiles)).body.data, []);
  const named = { params: { ...modPath(mod), file_id: source.id } };
  await author.refused(getModfile, named, 404, 15010);
  await author.refused(downloadModfile, named, 404, 15010);
});

test('the teams of the mod and its game get a link that is valid for a day, and nobody else sees sources', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  const source = await aSource(api, mod);
  const source_hash = source.download.binary_url.split('/').at(-1)!;
  const params = { ...modPath(mod), source_id: source.id, source_hash };
  const got = await api.nobody().call(downloadSourceModfile, { params });
  assert.equal(hashOf('sha256', got.bytes), source.filehash.sha256);
  const forged = {
    params: { ...params, source_hash: source_hash.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')) },
  };
  await api.nobody().refused(downloadSourceModfile, forged, 404, 15010);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(browseSourceModfiles, { params: modPath(mod) }, 403, 15065);
  assert.equal(
    (await (await api.as(game.owner)).call(browseSourceModfiles, { params: modPath(mod) })).body.result_total,
    1,
  );
  api.clock.advance(25 * 3_600);
  await api.nobody().refused(downloadSourceModfile, { params }, 404, 15010);
});

test('the uploader of a source deletes it, which removes its bytes and cancels its cooks', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  await aRunner(api, game);
  const source = await aSource(api, mod);
  const params = { ...modPath(mod), source_id: source.id };
  const friend = await api.aUser();
  await api.joinsMod(friend, mod, 4);
  await (await api.as(friend)).refused(deleteSourceModfile, { params }, 403, 15008);
  assert.equal((await (await api.as(mod.owner)).call(deleteSourceModfile, { params })).status, 204);
  assert.deepEqual(
    (await cooksOf(api, mod)).map(({ status }) => status),
    [4],
  );
  assert.equal(
    (await (await api.as(mod.owner)).call(browseSourceModfiles, { params: modPath(mod) })).body.result_total,
    0,
  );
});

test('a source is cooked at once for the platforms that have a runner, and for no others', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  await aSource(api, mod);
  assert.deepEqual(await cooksOf(api, mod), []);
  await aRunner(api, game, ['switch']);
  const source = await aSource(api, mod, { version: '2.0' });
  assert.deepEqual(
    (await cooksOf(api, mod)).map(({ modfile, platform, status, filename, filesize, version, logs }) => [
      [modfile, platform, status],
      [filename, filesize, version, logs],
    ]),
    [
      [
        [source.id, 'switch', 0],
        ['source.zip', source.filesize, '2.0', []],
      ],
    ],
  );
});

test('deleting a mod cancels its cooks', async () => {
  const game = await aCookingGame(api);
  const mod = await api.aMod({ game });
  await aRunner(api, game);
  await aSource(api, mod);
  assert.equal((await (await api.as(mod.owner)).call(deleteModOperation, { params: modPath(mod) })).status, 204);
  const { rows } = await cooksIn(gamePath(game).game_id);
  assert.deepEqual(rows, [{ status: 4, claim: null }]);
});

async function cooksIn(gameId: number) {
  const rows = await api
    .app()
    .db.query.selectFrom('cooks')
    .select(['status', 'claim'])
    .where('game_id', '=', gameId)
    .execute();
  return { rows };
}
