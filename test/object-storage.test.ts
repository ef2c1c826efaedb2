// Runs on one database: storage does not depend on it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { addGameMedia } from '../src/catalogue/games/operations.ts';
import { getMod } from '../src/catalogue/mods/operations.ts';
import { examine } from '../src/commands/checks/examine.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { downloadModfile } from '../src/files/downloads/operations.ts';
import { storageKeyOf } from '../src/files/modfiles/bytes.ts';
import { addModfileOperation, deleteModfileOperation, getModfile } from '../src/files/modfiles/operations.ts';
import { addMultipartUploadPart } from '../src/files/uploads/operations.ts';
import { requireCompleteUpload } from '../src/files/uploads/uploads.ts';
import { PART_BYTES } from '../src/platform/storage/storage.ts';
import { type Api, type Mod, startApi } from './api.ts';
import { findCeph, startCeph } from './ceph.ts';
import { startS3 } from './s3.ts';
import { aSession, hashOf, someBytes } from './uploads.ts';
import { zipOf } from './zips.ts';

const HOUR = 3_600;
const s3 = await startS3();
after(() => s3.stop());
const missing = findCeph();
const ceph = missing ? undefined : await startCeph();
after(() => ceph?.stop());

const startOn = (url: string) => startApi({ settings: { MODSTEAD_STORAGE_URL: url, MODSTEAD_JOBS: 'off' } });
const api = await startOn(s3.url);
const cephApi = ceph && (await startOn(ceph.url));

const paramsOf = (mod: Mod) => ({ game_id: mod.game_id, mod_id: mod.id });
const upload = (bytes: Buffer) => ({ filedata: { filename: 'sky ships.zip', bytes } });
const archive = () => zipOf({ 'a.txt': randomUUID() });

async function aFile(api: Api, mod: Mod, bytes: Buffer) {
  const client = await api.as(mod.owner);
  const answer = await client.call(addModfileOperation, { params: paramsOf(mod), files: upload(bytes) });
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
}

bucketRules('S3', api);
if (cephApi) bucketRules('S3 of Ceph', cephApi);
else test('S3 of Ceph', { skip: missing!.reason }, () => {});

test('a client can send parts again that the bucket has lost', async () => {
  const session = await aSession(api);
  const whole = someBytes();
  await session.put(whole);
  s3.uploads.clear();
  assert.equal((await session.complete()).status, 400);
  assert.deepEqual(await session.partNumbers(), []);
  assert.equal((await session.put(whole)).status, 200);
  assert.equal((await session.complete()).status, 200);
});

test('while the bucket is unavailable uploads get 503 and reads work, and uploads recover without a restart', async () => {
  const mod = await api.aMod();
  const session = await aSession(api);
  const client = await api.as(mod.owner);
  s3.fault = () => [500, 'InternalError'];
  await client.refused(addModfileOperation, { params: paramsOf(mod), files: upload(archive()) }, 503, 10000);
  await session.client.refused(addMultipartUploadPart, session.part(someBytes()), 500, 29018);
  assert.equal((await client.call(getMod, { params: paramsOf(mod) })).status, 200);
  assert.equal((await api.request('GET', `/files/images/${'0'.repeat(32)}-logo/original.png`)).status, 503);
  s3.fault = undefined;
  await aFile(api, mod, archive());
  assert.equal((await session.put(someBytes())).status, 200);
});

test('while the bucket is full uploads get 507, and they recover without a restart', async () => {
  const mod = await api.aMod();
  const session = await aSession(api);
  const client = await api.as(mod.owner);
  s3.fault = ({ method }) => (method === 'PUT' ? [507, 'InsufficientStorage'] : undefined);
  await client.refused(addModfileOperation, { params: paramsOf(mod), files: upload(archive()) }, 507, 10000);
  await session.client.refused(addMultipartUploadPart, session.part(someBytes()), 507, 29018);
  s3.fault = undefined;
  await aFile(api, mod, archive());
  assert.equal((await session.put(someBytes())).status, 200);
});

test('doctor writes to the bucket and reports what is wrong with it', async () => {
  const settings = () => api.app().settings;
  const look = async () => {
    const findings = await examine({ settings, sandbox: true });
    return findings.find(({ name }) => name === 'sandbox storage')!;
  };
  assert.deepEqual(await look(), {
    name: 'sandbox storage',
    ok: true,
    says: 'the bucket files is writable',
  });
  s3.fault = () => [403, 'AccessDenied'];
  const { ok, says, todo } = await look();
  s3.fault = undefined;
  assert.equal(ok, false);
  assert.match(says, /AccessDenied/);
  assert.match(todo!, /MODSTEAD_STORAGE_URL/);
});

test('an upload that would use the reserved free space is refused before its body is read', async () => {
  const full = await startApi({ settings: { MODSTEAD_FREE_MB: '1000000000', MODSTEAD_JOBS: 'off' } });
  const mod = await full.aMod();
  const client = await full.as(mod.owner);
  await client.refused(addModfileOperation, { params: paramsOf(mod), files: upload(archive()) }, 507, 10000);
  assert.deepEqual(await Array.fromAsync(full.app().storage.list('')), []);
  assert.equal((await client.call(getMod, { params: paramsOf(mod) })).status, 200);
});

/** Tests that must pass with any bucket. */
function bucketRules(name: string, api: Api): void {
  test(`${name}: an uploaded file is stored under its environment, and downloaded from the bucket under its name`, async () => {
    const mod = await api.aMod();
    const bytes = archive();
    const file = await aFile(api, mod, bytes);
    assert.ok(await api.app().storage.stat(storageKeyOf(hashOf('sha256', bytes))));
    assert.deepEqual(await Array.fromAsync(api.app('sandbox').storage.list('')), []);
    const client = await api.as(mod.owner);
    const answer = await client.call(downloadModfile, { params: { ...paramsOf(mod), file_id: file.id } });
    assert.equal(answer.status, 302);
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    const found = await fetch(answer.headers.location!);
    assert.deepEqual(Buffer.from(await found.arrayBuffer()), bytes);
    assert.equal(found.headers.get('content-type'), 'application/zip');
    assert.equal(found.headers.get('content-disposition'), 'attachment; filename="sky ships.zip"');
    assert.equal((await fetch(answer.headers.location!.split('?')[0]!)).status, 403);
  });

  test(`${name}: the parts of a session are S3 parts, in any order, and become one file`, async () => {
    const session = await aSession(api);
    const whole = someBytes(PART_BYTES + 1000);
    assert.equal((await session.put(whole, 2)).status, 200);
    assert.equal((await session.put(whole, 1)).status, 200);
    assert.deepEqual(await session.partNumbers(), [1, 2]);
    assert.equal((await session.complete()).status, 200);
    const caller = { kind: 'user', userId: session.mod.owner.id } as Parameters<typeof requireCompleteUpload>[1];
    const { key, sha256, md5 } = await requireCompleteUpload(api.app().db, caller, session.mod.id, session.id);
    assert.deepEqual([sha256, md5], [hashOf('sha256', whole), hashOf('md5', whole)]);
    assert.deepEqual(await api.app().storage.stat(key), { bytes: whole.length });
  });

  test(`${name}: the service serves images itself`, async () => {
    const game = await api.aGame();
    const client = await api.as(game.owner);
    const bytes = await sharp({ create: { width: 640, height: 360, channels: 3, background: '#246' } })
      .png()
      .toBuffer();
    const added = await client.call(addGameMedia, {
      params: { game_id: game.id },
      files: { logo: { filename: 'logo.png', bytes } },
    });
    assert.equal(added.status, 200, added.text);
    const key = (await Array.fromAsync(api.app().storage.list('images/'))).find((each) =>
      each.endsWith('original.png'),
    )!;
    const answer = await api.request('GET', `/files/${key}`);
    assert.equal(answer.headers['content-type'], 'image/png');
    assert.equal((await sharp(answer.bytes).metadata()).width, 640);
    const part = await api.request('GET', `/files/${key}`, { headers: { range: 'bytes=1-3' } });
    assert.deepEqual([part.status, part.text], [206, 'PNG']);
  });

  test(`${name}: an object is deleted with the last modfile that uses it`, async () => {
    const mod = await api.aMod();
    const bytes = archive();
    const first = await aFile(api, mod, bytes);
    // The same upload again within seconds would count as a duplicate request.
    api.clock.advance(HOUR);
    const second = await aFile(api, mod, bytes);
    const client = await api.as(mod.owner);
    const worker = composeWorker(api.app());
    const key = storageKeyOf(hashOf('sha256', bytes));
    const isThereAfter = async (file: { id: number }) => {
      await aFile(api, mod, archive());
      const { status } = await client.call(deleteModfileOperation, { params: { ...paramsOf(mod), file_id: file.id } });
      assert.equal(status, 204);
      api.clock.advance(HOUR);
      await worker.runDue();
      return (await api.app().storage.stat(key)) !== undefined;
    };
    assert.equal(await isThereAfter(first), true);
    assert.equal((await client.call(getModfile, { params: { ...paramsOf(mod), file_id: second.id } })).status, 200);
    assert.equal(await isThereAfter(second), false);
  });
}
