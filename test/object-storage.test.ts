// Runs on one database: storage does not depend on it.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, test } from 'node:test';
import sharp from 'sharp';
import { addGameMedia } from '../src/catalogue/games/operations.ts';
import { getMod } from '../src/catalogue/mods/operations.ts';
import { examine } from '../src/commands/checks/examine.ts';
import { composeWorker } from '../src/composition/compose.ts';
import { storageKeyOf } from '../src/files/modfiles/bytes.ts';
import { addModfileOperation, deleteModfileOperation, getModfile } from '../src/files/modfiles/operations.ts';
import {
  addMultipartUploadPart,
  completeMultipartUploadSession,
  confirmMultipartUploadPart,
  createMultipartUploadLink,
} from '../src/files/uploads/operations.ts';
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

test('with MODSTEAD_STORAGE_LINKS=off all bytes go through the service', async () => {
  const settings = { MODSTEAD_STORAGE_URL: s3.url, MODSTEAD_STORAGE_LINKS: 'off', MODSTEAD_JOBS: 'off' };
  const closed = await startApi({ settings });
  const bytes = archive();
  const file = await aFile(closed, await closed.aMod(), bytes);
  const { pathname, search } = new URL(file.download.binary_url);
  const answer = await closed.request('GET', pathname + search);
  assert.deepEqual([answer.status, answer.bytes], [200, bytes]);
  const session = await aSession(closed);
  const { status, body } = await session.client.call(createMultipartUploadLink, session.linked(someBytes(), 1));
  assert.deepEqual([status, body.url], [200, '']);
});

test('with a CDN a download is redirected to an address that the CDN’s key signs, also with a token', async () => {
  const cdn = await startApi({
    settings: {
      MODSTEAD_STORAGE_URL: s3.url,
      MODSTEAD_STORAGE_PUBLIC_URL: 'https://files.example.com/',
      MODSTEAD_STORAGE_PUBLIC_KEY: 'bunny:a-security-key',
      MODSTEAD_JOBS: 'off',
    },
  });
  const mod = await cdn.aMod();
  const bytes = archive();
  const file = await aFile(cdn, mod, bytes);
  const { token } = await cdn.as(mod.owner);
  const { pathname } = new URL(file.download.binary_url);
  const answer = await cdn.request('GET', pathname, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(answer.status, 302);
  const { origin, pathname: path, searchParams } = new URL(answer.headers.location!);
  assert.deepEqual(
    [origin, path],
    ['https://files.example.com', `/tests/production/${storageKeyOf(hashOf('sha256', bytes))}`],
  );
  assert.equal(Number(searchParams.get('expires')), cdn.clock.now() + 300);
  assert.equal(searchParams.get('response-content-disposition'), 'attachment; filename="sky ships.zip"');
  assert.equal((await cdn.request('GET', pathname)).status, 401);
});

/** Tests that must pass with any bucket. */
function bucketRules(name: string, api: Api): void {
  test(`${name}: an uploaded file is stored under its environment, and downloaded from the bucket under its name`, async () => {
    const mod = await api.aMod();
    const bytes = archive();
    const file = await aFile(api, mod, bytes);
    assert.ok(await api.app().storage.stat(storageKeyOf(hashOf('sha256', bytes))));
    assert.deepEqual(await Array.fromAsync(api.app('sandbox').storage.list('')), []);
    const { pathname, search } = new URL(file.download.binary_url);
    const answer = await api.request('GET', pathname + search, { headers: { range: 'bytes=0-' } });
    assert.equal(answer.status, 302);
    assert.equal(answer.headers['cache-control'], 'private, no-store');
    const found = await fetch(answer.headers.location!);
    assert.deepEqual(Buffer.from(await found.arrayBuffer()), bytes);
    assert.equal(found.headers.get('content-type'), 'application/zip');
    assert.equal(found.headers.get('content-disposition'), 'attachment; filename="sky ships.zip"');
    const rest = await fetch(answer.headers.location!, { headers: { range: 'bytes=10-' } });
    assert.deepEqual([rest.status, Buffer.from(await rest.arrayBuffer())], [206, bytes.subarray(10)]);
    assert.equal((await fetch(answer.headers.location!.split('?')[0]!)).status, 403);
  });

  test(`${name}: a client that would repeat its token after a redirect gets the bytes here, and so does HEAD`, async () => {
    const mod = await api.aMod();
    const bytes = archive();
    const file = await aFile(api, mod, bytes);
    const { pathname } = new URL(file.download.binary_url);
    const { token } = await api.as(mod.owner);
    const ask = (method: string, headers: Record<string, string>) =>
      api.request(method, `${pathname}?api_key=${'0'.repeat(32)}`, {
        headers: { authorization: `Bearer ${token}`, ...headers },
      });
    const tail = await ask('GET', { range: 'bytes=10-' });
    assert.deepEqual([tail.status, tail.bytes], [206, bytes.subarray(10)]);
    const head = await ask('HEAD', { 'sec-fetch-mode': 'cors' });
    assert.deepEqual([head.status, head.headers['content-length']], [200, String(bytes.length)]);
    const redirected = await ask('GET', { 'sec-fetch-mode': 'cors' });
    assert.equal(redirected.status, 302);
    const both = await fetch(redirected.headers.location!, { headers: { authorization: `Bearer ${token}` } });
    assert.ok(both.status >= 400, String(both.status));
  });

  test(`${name}: a client sends a part to the bucket itself, and it counts once it was confirmed`, async () => {
    const session = await aSession(api);
    const whole = someBytes(PART_BYTES + 1000);
    const { client } = session;
    assert.equal((await session.put(whole, 2)).status, 200);
    const first = session.linked(whole, 1);
    const { url, part_number } = (await client.call(createMultipartUploadLink, first)).body;
    assert.equal(part_number, 1);
    await client.refused(confirmMultipartUploadPart, first, 400, 29025);
    const send = (body: Buffer) => fetch(url, { method: 'PUT', body: new Uint8Array(body) });
    assert.equal((await send(whole.subarray(0, 1000))).status, 403);
    assert.equal((await send(whole.subarray(0, PART_BYTES))).status, 200);
    const confirmed = await client.call(confirmMultipartUploadPart, first);
    assert.deepEqual([confirmed.status, confirmed.body.part_size], [200, PART_BYTES], confirmed.text);
    assert.equal((await client.call(confirmMultipartUploadPart, first)).status, 200);
    await client.refused(createMultipartUploadLink, first, 400, 29015);
    assert.deepEqual(await session.partNumbers(), [1, 2]);
    assert.equal((await session.complete()).status, 200);
    assert.equal((await send(whole.subarray(0, PART_BYTES))).status, 404);
    const caller = { kind: 'user', userId: session.mod.owner.id } as Parameters<typeof requireCompleteUpload>[1];
    const { sha256 } = await requireCompleteUpload(api.app().db, caller, session.mod.id, session.id);
    assert.equal(sha256, hashOf('sha256', whole));
  });

  test(`${name}: bytes that differ from the digest, or that changed after the confirmation, never become a file`, async () => {
    const session = await aSession(api);
    const { client } = session;
    const whole = someBytes();
    const input = session.linked(whole, 1);
    for (const [before, after] of [
      [someBytes(), undefined],
      [whole, someBytes()],
    ]) {
      const { url } = (await client.call(createMultipartUploadLink, input)).body;
      const send = (body: Buffer) => fetch(url, { method: 'PUT', body: new Uint8Array(body) });
      assert.equal((await send(before!)).status, 200);
      assert.equal((await client.call(confirmMultipartUploadPart, input)).status, 200);
      if (after) assert.equal((await send(after)).status, 200);
      await client.refused(completeMultipartUploadSession, session.input, 400, 29019);
      assert.deepEqual(await session.partNumbers(), []);
    }
    assert.equal((await session.put(whole)).status, 200);
    assert.equal((await session.complete()).status, 200);
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
