import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Client, type Mod, START, startApi } from '../../../test/api.ts';
import { zipOf } from '../../../test/zips.ts';
import { getModEvents } from '../../catalogue/events/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { requireModForChange } from '../../catalogue/mods/mods.ts';
import { editModByPut, getMod, getMods } from '../../catalogue/mods/operations.ts';
import { ADMINISTRATOR, MANAGER, MODERATOR } from '../../catalogue/teams/teams.ts';
import { NOBODY } from '../../platform/access/caller.ts';
import {
  addModfileOperation,
  deleteModfileOperation,
  editModfileOperation,
  getModfile,
  getModfiles,
  getUserModfiles,
} from './operations.ts';
import { withdrawModfile } from './releasing.ts';

const api = await startApi();

const hash = (name: string, bytes: Buffer) => createHash(name).update(bytes).digest('hex');
const paramsOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const fileOf = (mod: Mod, { id }: { id: number }) => ({ ...paramsOf(mod), file_id: id });
const asFile = (bytes: Buffer, filename = 'mod.zip') => ({ filedata: { filename, bytes } });

async function upload(client: Client, mod: Mod, bytes: Buffer, body: Record<string, string | boolean> = {}) {
  const answer = await client.call(addModfileOperation, { params: paramsOf(mod), body, files: asFile(bytes) });
  assert.equal(answer.status, 201, answer.text);
  return answer;
}

async function modfileOf(mod: Mod) {
  return (await (await api.as(mod.owner)).call(getMod, { params: paramsOf(mod) })).body.modfile as { id?: number };
}

const eventsOf = async (mod: Mod) =>
  (await (await api.as(mod.owner)).call(getModEvents, { params: paramsOf(mod) })).body.data.map(
    ({ event_type }) => event_type,
  );

test('the object of an uploaded file has its hashes, its sizes and its download link', async () => {
  const mod = await api.aMod();
  const archive = zipOf({ 'readme.txt': 'x'.repeat(1_000), 'empty.txt': '', 'data/a.bin': Buffer.alloc(24) });
  const fields = { version: ' 1.2.0 ', changelog: 'Fixes <b>all</b> & more', metadata_blob: 'rogue,hd' };
  const { body, headers } = await upload(await api.as(mod.owner), mod, archive, fields);
  const { id, download, ...rest } = body;
  assert.deepEqual(rest, {
    mod_id: mod.id,
    date_added: START,
    date_updated: START,
    date_scanned: 0,
    virus_status: 0,
    virus_positive: 0,
    virustotal_hash: '',
    filesize: archive.length,
    filesize_uncompressed: 1_024,
    filehash: { md5: hash('md5', archive), sha256: hash('sha256', archive) },
    filename: 'mod.zip',
    version: '1.2.0',
    changelog: fields.changelog,
    metadata_blob: fields.metadata_blob,
    platforms: [],
  });
  const address = `https://g-${mod.game_id}.localhost/v1/games/${mod.game_id}/mods/${mod.id}/files/${id}`;
  assert.equal(headers.location, address);
  assert.match(download.binary_url, new RegExp(`^${address}/download`));
  assert.ok(download.date_expires > START);
  const key = `modfiles/${rest.filehash.sha256.slice(0, 2)}/${rest.filehash.sha256}`;
  assert.deepEqual(await api.app().storage.stat(key), { bytes: archive.length });
  assert.deepEqual(await Array.fromAsync(api.app().storage.list('incoming/')), []);
});

test('links in lists have one more segment than those of single items, with and without direct downloads', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod);
  const client = api.withKey(game);
  const params = paramsOf(mod);
  const links = async () => ({
    file: (await client.call(getModfile, { params: fileOf(mod, file) })).body.download.binary_url,
    files: (await client.call(getModfiles, { params })).body.data[0]!.download.binary_url,
    mod: linkIn((await client.call(getMod, { params })).body),
    mods: linkIn((await client.call(getMods, { params })).body.data[0]!),
  });
  const setAccess = async (api_access_options: number) =>
    (await api.as(game.owner)).call(editGameOperation, { params, body: { api_access_options } });
  await setAccess(2);
  const open = await links();
  assert.equal(open.file, open.mod);
  assert.match(open.file, /\/download\?verification_hash=[\w-]+$/);
  assert.match(open.files, /\/download\/[\w-]+$/);
  assert.equal(open.mods, open.files);
  await setAccess(0);
  assert.deepEqual(await links(), open);
});

const linkIn = (mod: { modfile: unknown }) => (mod.modfile as { download: { binary_url: string } }).download.binary_url;

test('texts that the client omitted are empty strings, in files and in mods', async () => {
  const mod = await api.aMod();
  const file = await api.aFile(mod);
  const client = await api.as(mod.owner);
  const params = paramsOf(mod);
  const mods = [(await client.call(getMod, { params })).body, (await client.call(getMods, { params })).body.data[0]!];
  const files = [
    (await client.call(getModfile, { params: fileOf(mod, file) })).body,
    (await client.call(getModfiles, { params })).body.data[0]!,
    ...mods.map(({ modfile }) => modfile as { version: string; changelog: string; metadata_blob: string }),
  ];
  for (const { version, changelog, metadata_blob } of files)
    assert.deepEqual([version, changelog, metadata_blob], ['', '', '']);
  assert.deepEqual(
    mods.map(({ metadata_blob }) => metadata_blob),
    ['', ''],
  );
});

test('a cached response does not contain expired download links', async () => {
  const mod = await api.aMod();
  await api.aFile(mod);
  // Not the owner, because the mod object shows when its owner was last online.
  const client = await api.as(await api.aUser());
  for (const operation of [getModfiles, getMods, getMod]) {
    const ask = async () => (await client.call(operation, { params: paramsOf(mod) })).text;
    const [first, cached] = [await ask(), await ask()];
    assert.equal(cached, first);
    api.clock.advance(3_600);
    assert.notEqual(await ask(), first, operation.declaration.id);
  }
});

test('the first live file accepts a mod where the game does not curate', async () => {
  const mod = await api.aMod({ accepted: false });
  assert.deepEqual(await modfileOf(mod), {});
  const moderator = await api.aUser();
  await api.joins(moderator, { id: mod.game_id }, MODERATOR);
  const accept = { params: paramsOf(mod), body: { status: 1 } };
  await (await api.as(moderator)).refused(editModByPut, accept, 403, 15016);
  await api.aFile(mod, { active: false });
  assert.deepEqual(await modfileOf(mod), {});
  await (await api.as(moderator)).refused(editModByPut, accept, 403, 15016);
  const file = await api.aFile(mod);
  const { body } = await (await api.as(mod.owner)).call(getMod, { params: paramsOf(mod) });
  assert.deepEqual([body.status, body.date_live > 0], [1, true]);
  assert.equal((await modfileOf(mod)).id, file.id);
  assert.deepEqual(await eventsOf(mod), ['MODFILE_CHANGED', 'MOD_AVAILABLE']);
});

test('a further file does not accept a mod that the game’s team has rejected', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  await (await api.as(game.owner)).call(editModByPut, { params: paramsOf(mod), body: { status: 0 } });
  await api.aFile(mod);
  assert.equal((await (await api.as(mod.owner)).call(getMod, { params: paramsOf(mod) })).body.status, 0);
});

test('a marketplace queue keeps no mod from players', async () => {
  const game = await api.aGame({ settings: { curation_option: 1 } });
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  assert.equal((await api.withKey(game).call(getMod, { params: paramsOf(mod) })).body.status, 1);
});

test('where the game curates, the game’s team accepts a mod that has a live file', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  await owner.call(editGameOperation, { params: { game_id: game.id }, body: { curation_option: 2 } });
  const mod = await api.aMod({ game, accepted: false });
  await api.aFile(mod);
  const { body } = await owner.call(getMod, { params: paramsOf(mod) });
  assert.equal(body.status, 0);
  const accepted = await owner.call(editModByPut, { params: paramsOf(mod), body: { status: 1 } });
  assert.equal(accepted.body.status, 1);
});

test('the last active file is live, an older one becomes live on request, and none is after a recall', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const [first, second, third] = [await api.aFile(mod), await api.aFile(mod), await api.aFile(mod, { active: false })];
  assert.equal((await modfileOf(mod)).id, second.id);
  const edit = (file: typeof first, active: boolean) =>
    client.call(editModfileOperation, { params: fileOf(mod, file), body: { active } });
  assert.equal((await edit(first, true)).status, 200);
  assert.equal((await modfileOf(mod)).id, first.id);
  await edit(third, false);
  assert.equal((await modfileOf(mod)).id, first.id);
  await edit(first, true);
  const changes = async () => (await eventsOf(mod)).filter((type) => type === 'MODFILE_CHANGED').length;
  assert.equal(await changes(), 3);
  await edit(first, false);
  assert.deepEqual(await modfileOf(mod), {});
  assert.equal(await changes(), 4);
});

test('an edit of a file shows at once in every response', async () => {
  const mod = await api.aMod();
  const file = await api.aFile(mod, { version: '1', changelog: 'first' });
  const client = await api.as(mod.owner);
  await client.call(getMod, { params: paramsOf(mod) });
  api.clock.advance(60);
  const body = { version: '2', metadata_blob: 'new' };
  const edited = await client.call(editModfileOperation, { params: fileOf(mod, file), body });
  const { version, changelog, metadata_blob, date_updated, date_added } = edited.body;
  assert.deepEqual([version, changelog, metadata_blob, date_updated - date_added], ['2', 'first', 'new', 60]);
  for (const shown of [
    (await client.call(getMod, { params: paramsOf(mod) })).body.modfile,
    (await client.call(getModfile, { params: fileOf(mod, file) })).body,
  ])
    assert.deepEqual(shown, edited.body);
});

test('a withdrawn file is live nowhere, visible to the teams only, and cannot be made active', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod);
  const app = api.app();
  const setWithdrawn = (withdrawn: boolean) =>
    app.db.write(async (transaction) => {
      const row = await requireModForChange(transaction, NOBODY, game.id, mod.id);
      await withdrawModfile(app, transaction, row, file.id, { withdrawn, userId: game.owner.id });
    });
  const [key, owner] = [api.withKey(game), await api.as(mod.owner)];
  assert.equal((await key.call(getModfile, { params: fileOf(mod, file) })).status, 200);
  await setWithdrawn(true);
  assert.deepEqual((await key.call(getMod, { params: paramsOf(mod) })).body.modfile, {});
  await key.refused(getModfile, { params: fileOf(mod, file) }, 404, 15010);
  assert.equal((await key.call(getModfiles, { params: paramsOf(mod) })).body.result_total, 0);
  assert.equal((await owner.call(getModfile, { params: fileOf(mod, file) })).status, 200);
  const activate = { params: fileOf(mod, file), body: { active: true } };
  await owner.refused(editModfileOperation, activate, 403, 15007);
  assert.deepEqual((await eventsOf(mod)).slice(0, 2), ['MODFILE_CHANGED', 'MODFILE_CHANGED']);
  await setWithdrawn(false);
  assert.equal((await owner.call(editModfileOperation, activate)).status, 200);
  assert.equal((await modfileOf(mod)).id, file.id);
});

test('managers and administrators of the teams upload and edit files, and nobody else does', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const file = await api.aFile(mod);
  for (const level of [0, MODERATOR, MANAGER, ADMINISTRATOR])
    for (const join of ['joinsMod', 'joins'] as const) {
      const user = await api.aUser();
      if (level > 0) await api[join](user, join === 'joins' ? game : mod, level);
      const client = await api.as(user);
      const add = { params: paramsOf(mod), files: asFile(zipOf({ a: 'a' })) };
      const edit = { params: fileOf(mod, file), body: { version: '2' } };
      if (level < MANAGER) {
        await client.refused(addModfileOperation, add, 403, 15006);
        await client.refused(editModfileOperation, edit, 403, 15007);
      } else {
        assert.equal((await client.call(addModfileOperation, add)).status, 201);
        assert.equal((await client.call(editModfileOperation, edit)).status, 200);
      }
    }
});

test('the uploader and administrators of the game delete a file that is not live', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const [byOwner, byAdmin, live] = [
    await api.aFile(mod, { active: false }),
    await api.aFile(mod, { active: false }),
    await api.aFile(mod),
  ];
  const [member, moderator] = [await api.aUser(), await api.aUser()];
  await api.joinsMod(member, mod, ADMINISTRATOR);
  await api.joins(moderator, game, MANAGER);
  const owner = await api.as(mod.owner);
  for (const user of [member, moderator])
    await (await api.as(user)).refused(deleteModfileOperation, { params: fileOf(mod, byOwner) }, 403, 15008);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(deleteModfileOperation, { params: fileOf(mod, byOwner) }, 404, 15010);
  await stranger.refused(deleteModfileOperation, { params: fileOf(mod, live) }, 403, 15008);
  await owner.refused(deleteModfileOperation, { params: fileOf(mod, live) }, 403, 15009);
  assert.equal((await owner.call(deleteModfileOperation, { params: fileOf(mod, byOwner) })).status, 204);
  const admin = await api.as(game.owner);
  assert.equal((await admin.call(deleteModfileOperation, { params: fileOf(mod, byAdmin) })).status, 204);
  for (const file of [byOwner, byAdmin, { id: 999_999 }]) {
    await owner.refused(getModfile, { params: fileOf(mod, file) }, 404, 15010);
    await owner.refused(editModfileOperation, { params: fileOf(mod, file), body: { version: '1' } }, 404, 15010);
    await owner.refused(deleteModfileOperation, { params: fileOf(mod, file) }, 404, 15010);
  }
  const { data, result_total } = (await owner.call(getModfiles, { params: paramsOf(mod) })).body;
  assert.deepEqual([data.map(({ id }) => id), result_total], [[live.id], 1]);
});

test('a file is found only under its own mod, and a file of a hidden mod only by its teams', async () => {
  const game = await api.aGame();
  const [mod, other] = [await api.aMod({ game }), await api.aMod({ game })];
  const hidden = await api.aMod({ game, visible: 0 });
  const [file, secret] = [await api.aFile(mod), await api.aFile(hidden)];
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getModfile, { params: fileOf(other, file) }, 404, 15010);
  await stranger.refused(getModfile, { params: fileOf(hidden, secret) }, 404, 15022);
  await stranger.refused(getModfiles, { params: paramsOf(hidden) }, 404, 15022);
  const add = { params: paramsOf(hidden), files: asFile(zipOf({ a: 'a' })) };
  await stranger.refused(addModfileOperation, add, 404, 15022);
  assert.equal(
    (await (await api.as(hidden.owner)).call(getModfiles, { params: paramsOf(hidden) })).body.result_total,
    1,
  );
});

test('a file that is no archive, or has another MD5 than announced, is refused and leaves nothing behind', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const archive = zipOf({ 'a.txt': 'hello' });
  const refused = (bytes: Buffer, body: Record<string, string> = {}) =>
    client.refused(addModfileOperation, { params: paramsOf(mod), body, files: asFile(bytes) }, 422, 13001);
  await refused(Buffer.from('MZ this is a program'));
  await refused(Buffer.alloc(0));
  await refused(Buffer.concat([Buffer.from('Rar!\x1a\x07\x01\x00'), archive]));
  await refused(archive.subarray(0, archive.length - 1));
  await refused(archive, { filehash: hash('md5', Buffer.from('something else')) });
  const lying = Buffer.from(archive);
  lying.writeUInt32LE(2 ** 31, lying.length - 10);
  await refused(lying);
  assert.deepEqual((await client.call(getModfiles, { params: paramsOf(mod) })).body.data, []);
  assert.deepEqual(await Array.fromAsync(api.app().storage.list('incoming/')), []);
  const filehash = hash('md5', archive).toUpperCase();
  assert.equal((await upload(client, mod, archive, { filehash })).status, 201);
});

test('a field without a file, a second file, a truncated one and a missing one each get their own error', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const part = (head: string) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\nPK\r\n`;
  const send = (text: string) =>
    client.send('POST', `/games/${mod.game_id}/mods/${mod.id}/files`, {
      body: text,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });
  const refOf = async (text: string) => ((await send(text)).body as { error: { error_ref: number } }).error.error_ref;
  assert.equal(await refOf(`${part('name="filedata"')}--b--\r\n`), 13000);
  assert.equal(await refOf(`${part('name="filedata"; filename="a.zip"').repeat(2)}--b--\r\n`), 13003);
  assert.equal(
    await refOf('--b\r\nContent-Disposition: form-data; name="filedata"; filename="a.zip"\r\n\r\nPK'),
    13002,
  );
  const missing = { params: paramsOf(mod), body: { version: '1' } };
  const { body } = await client.refused(addModfileOperation, missing, 422, 13009);
  assert.deepEqual(Object.keys(body.error.errors ?? {}), ['filedata']);
});

for (const [given, offered] of [
  ['../../etc/passwd', 'passwd.zip'],
  ['C:\\mods\\sword.zip', 'sword.zip'],
  ['CON.zip', 'file-CON.zip'],
  ['\u202Egpj.zip', 'gpj.zip'],
  ['a;b%0d%0a.zip', 'ab0d0a.zip'],
  ['剣 2.ZIP', '剣 2.zip'],
  ['x'.repeat(10_000), `${'x'.repeat(96)}.zip`],
  ['..', 'file.zip'],
] as const)
  test(`the name ${given.slice(0, 30)} is offered as ${offered.slice(0, 30)}`, async () => {
    const mod = await api.aMod();
    const file = await api.aFile(mod, { filename: given });
    const { body } = await (await api.as(mod.owner)).call(getModfile, { params: fileOf(mod, file) });
    assert.equal(body.filename, offered);
  });

test('every filter finds files, and lists are sorted', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  const small = await api.aFile(mod, { version: '1.0', changelog: 'Erste Fassung', filename: 'Ärger.zip' });
  api.clock.advance(10);
  const large = await api.aFile(mod, {
    version: '2.0',
    metadata_blob: 'HD textures',
    archive: zipOf({ a: Buffer.from(Array.from({ length: 999 }, (_, i) => i % 251)) }),
  });
  const shown = (await client.call(getModfile, { params: fileOf(mod, large) })).body;
  const found = async (query: Record<string, string | number>) =>
    (await client.call(getModfiles, { params: paramsOf(mod), query })).body.data.map(({ id }) => id);
  const queries: Record<string, string | number>[] = [
    { id: large.id },
    { 'date_added-gt': shown.date_added - 10 },
    { 'filesize-min': shown.filesize },
    { filehash: shown.filehash.md5 },
    { version: '2.0' },
    { 'version-not': '1.0' },
    { 'metadata_blob-lk': '*hd*' },
    { 'filename-lk': 'EXAMPLE*' },
    { 'changelog-not-lk': '*fassung' },
  ];
  for (const query of queries) assert.deepEqual(await found(query), [large.id], JSON.stringify(query));
  assert.deepEqual(await found({ filename: 'ärger.zip' }), [small.id]);
  assert.deepEqual(await found({ virus_status: 0, virus_positive: 0, date_scanned: 0, mod_id: mod.id }), [
    small.id,
    large.id,
  ]);
  assert.deepEqual(await found({ _sort: '-date_added' }), [large.id, small.id]);
  assert.deepEqual(await found({ _sort: '-id', _limit: 1, _offset: 1 }), [small.id]);
});

test('users list the files that they have uploaded', async () => {
  const [mod, other] = [await api.aMod(), await api.aMod()];
  const [file] = [await api.aFile(mod, { active: false }), await api.aFile(other)];
  const { body } = await (await api.as(mod.owner)).call(getUserModfiles);
  assert.deepEqual(
    body.data.map(({ id }) => id),
    [file!.id],
  );
  assert.match(body.data[0]!.download.binary_url, /\/download\/[\w-]+$/);
});

test('filters find mods by their live file', async () => {
  const game = await api.aGame();
  const mods = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  const files = [await api.aFile(mods[0]!), await api.aFile(mods[1]!)];
  const found = async (query: Record<string, string | number>) =>
    (await api.withKey(game).call(getMods, { params: { game_id: game.id }, query })).body.data.map(({ id }) => id);
  assert.deepEqual(await found({ modfile: files[0]!.id }), [mods[0]!.id]);
  assert.deepEqual(await found({ 'modfile-in': `${files[1]!.id},${files[0]!.id}` }), [mods[0]!.id, mods[1]!.id]);
  assert.deepEqual(await found({ 'modfile-not': files[0]!.id }), [mods[1]!.id, mods[2]!.id]);
  assert.deepEqual(await found({ 'modfile-gt': files[0]!.id }), [mods[1]!.id]);
});

test('16 concurrent writers that add, release and delete files leave one live file that is stored', async () => {
  const mod = await api.aMod();
  const client = await api.as(mod.owner);
  await api.aFile(mod);
  const ids = async () => (await client.call(getModfiles, { params: paramsOf(mod) })).body.data.map(({ id }) => id);
  await Promise.all(
    Array.from({ length: 16 }, async (_, writer) => {
      const archive = zipOf({ same: String(writer % 4) });
      for (let turn = 0; turn < 3; turn += 1) {
        const { id } = (await upload(client, mod, archive, { active: writer % 2 === 0, version: `${writer}.${turn}` }))
          .body;
        const known = await ids();
        const target = { params: fileOf(mod, { id: known[(writer * 7 + turn) % known.length]! }) };
        const edited = await client.call(editModfileOperation, { ...target, body: { active: true } });
        assert.ok([200, 404].includes(edited.status), edited.text);
        const deleted = await client.call(deleteModfileOperation, { params: fileOf(mod, { id }) });
        assert.ok([204, 403].includes(deleted.status), deleted.text);
      }
    }),
  );
  const { query } = api.app().db;
  const live = await query.selectFrom('mod_live_files').selectAll().where('mod_id', '=', mod.id).execute();
  const shown = await modfileOf(mod);
  assert.deepEqual(live, [{ mod_id: mod.id, platform: '', modfile_id: shown.id }]);
  assert.ok((await ids()).includes(shown.id!));
  assert.equal((await client.call(getModfile, { params: fileOf(mod, { id: shown.id! }) })).status, 200);
});
