import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi } from '../../../test/api.ts';
import { aSession } from '../../../test/uploads.ts';
import { DEFLATED, nested, zipOf } from '../../../test/zips.ts';
import { MODERATOR } from '../../catalogue/teams/teams.ts';
import { storageKeyOf } from './bytes.ts';
import { addModfileOperation, getModfileContents, getModfiles } from './operations.ts';

const api = await startApi();

const at = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });

for (const [what, archive, says] of [
  ['leads out of its folder', zipOf([{ name: '../evil.txt', content: 'x' }]), /“\.\.\/evil\.txt”/],
  ['has a name twice but for its case', zipOf({ 'A.txt': '1', 'a.txt': '2' }), /twice/],
  ['is encrypted', zipOf([{ name: 'a.txt', content: 'x', flags: 1 }]), /encrypted file “a\.txt”/],
  [
    'unpacks to far more than it declares',
    zipOf([{ name: 'a', content: Buffer.alloc(9_999), method: DEFLATED, bytes: 9 }]),
    /“a”/,
  ],
  ['nests archives too deep', nested('a.txt', 'x', 5), /nested/],
  ['is no archive', Buffer.from('MZ this is a program'), /must be a zip archive/],
  ['holds nothing', zipOf({}), /no files/],
] as const)
  test(`an archive that ${what} is refused, and the error gives the reason`, async () => {
    const mod = await api.aMod();
    const owner = await api.as(mod.owner);
    const input = { params: at(mod), files: { filedata: { filename: 'a.zip', bytes: archive } } };
    const { body } = await owner.refused(addModfileOperation, input, 422, 13001);
    assert.match(body.error.errors!['filedata']!, says);
    assert.equal((await owner.call(getModfiles, { params: at(mod) })).body.result_total, 0);
  });

test('the error for an archive is in the language of the caller, and names upload_id for a multipart upload', async () => {
  const session = await aSession(api);
  await session.put(Buffer.from('Thirty bytes that are no archive'));
  await session.complete();
  const input = { params: at(session.mod), body: { upload_id: session.id }, headers: { 'accept-language': 'de' } };
  const { body } = await session.client.refused(addModfileOperation, input, 422, 13001);
  assert.deepEqual(Object.keys(body.error.errors!), ['upload_id']);
  assert.match(body.error.errors!['upload_id']!, /ZIP-Archiv/i);
});

test('the teams of the mod and its game list the entries of the archive, and nobody else does', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const archive = zipOf([{ name: 'data/' }, { name: 'data/käse.txt', content: 'x'.repeat(100) }, { name: 'empty' }]);
  const file = await api.aFile(mod, { archive });
  const params = { ...at(mod), file_id: file.id };
  const moderator = await api.aUser();
  await api.joins(moderator, game, MODERATOR);
  for (const member of [mod.owner, moderator, game.owner]) {
    const { body } = await (await api.as(member)).call(getModfileContents, { params });
    assert.deepEqual(
      body.data.map(({ path, filesize }) => [path, filesize]),
      [
        ['data/', 0],
        ['data/käse.txt', 100],
        ['empty', 0],
      ],
    );
    assert.match(body.data[1]!.crc32, /^[0-9a-f]{8}$/);
  }
  const owner = await api.as(mod.owner);
  const second = await owner.call(getModfileContents, { params, query: { _limit: 1, _offset: 1 } });
  assert.deepEqual([second.body.data[0]!.path, second.body.result_total], ['data/käse.txt', 3]);
  await (await api.as(await api.aUser())).refused(getModfileContents, { params }, 403, 15065);
  await owner.refused(getModfileContents, { params: { ...params, file_id: 999_999 } }, 404, 15010);
  await api.app().storage.remove(storageKeyOf(file.sha256));
  await owner.refused(getModfileContents, { params }, 400, 15065);
});
