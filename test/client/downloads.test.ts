// Runs on one database: the client talks to the API alone.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import fc from 'fast-check';
import { createMd5 } from '../../client/src/downloads/md5.ts';
import { DamagedDownload, download, md5InWorker } from '../../client/src/index.ts';
import { downloadToFile } from '../../client/src/node/files.ts';
import { startApi } from '../api.ts';
import { temporaryFolder } from '../temporary.ts';
import { zipOf } from '../zips.ts';
import { clientOf, fetchOf } from './fetching.ts';

const api = await startApi();
const mod = await api.aMod();
const archive = zipOf({ 'data.bin': randomBytes(300_000) });
await api.aFile(mod, { archive });
const owner = clientOf(api, { token: (await api.as(mod.owner)).token });
const path = { game_id: mod.game_id, mod_id: mod.id };
const modfile = (await owner.call('GET /games/{game_id}/mods/{mod_id}/files', path)).data[0]!;

test('a download continues where its connection was lost, and is verified', async () => {
  const send = fetchOf(api);
  const ranges: (string | null)[] = [];
  const breaking: typeof fetch = async (input, init) => {
    const response = await send(input, init);
    ranges.push(new Headers(init?.headers).get('range'));
    if (ranges.length > 1) return response;
    const start = (await response.bytes()).subarray(0, 100_000);
    return new Response(start, { status: response.status });
  };
  const client = owner.with({ fetch: breaking, retry: { wait: async () => {} } });
  const received = Buffer.concat(await Array.fromAsync(download(client, modfile)));
  assert.ok(received.equals(archive));
  assert.deepEqual(ranges, [null, 'bytes=100000-']);
});

test('a damaged download fails', async () => {
  const damaged = Buffer.from(archive);
  damaged[1_000]! ^= 1;
  const client = owner.with({ fetch: async () => new Response(damaged) });
  await assert.rejects(Array.fromAsync(download(client, modfile)), DamagedDownload);
});

test('the MD5 is that of Node.js, in chunks of any length', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 200 }), { maxLength: 8 }), (chunks) => {
      const [ours, theirs] = [createMd5(), createHash('md5')];
      for (const chunk of chunks) ours.update(chunk);
      for (const chunk of chunks) theirs.update(chunk);
      assert.equal(ours.digest(), theirs.digest('hex'));
    }),
  );
});

test('a download to a file continues after a restart, and the file appears when it is whole', async () => {
  const target = join(temporaryFolder('download'), 'mod.zip');
  const send = fetchOf(api);
  const headers: (string | null)[][] = [];
  const watching: typeof fetch = async (input, init) => {
    const sent = new Headers(init?.headers);
    headers.push([sent.get('range'), sent.get('if-range')]);
    const response = await send(input, init);
    if (headers.length > 1) return response;
    const { status, headers: given } = response;
    return new Response((await response.bytes()).subarray(0, 100_000), {
      status,
      headers: { etag: given.get('etag')! },
    });
  };
  const ended = owner.with({ fetch: watching, retry: { wait: () => Promise.reject(new Error('The power failed.')) } });
  await assert.rejects(downloadToFile(ended, modfile, target), /power failed/);
  assert.deepEqual([existsSync(target), statSync(`${target}.part`).size], [false, 100_000]);
  const progress: number[] = [];
  await downloadToFile(ended, modfile, target, { onProgress: ({ receivedBytes }) => progress.push(receivedBytes) });
  assert.ok(readFileSync(target).equals(archive));
  assert.deepEqual(headers, [
    [null, null],
    ['bytes=100000-', null],
  ]);
  assert.deepEqual([progress.at(-1), existsSync(`${target}.part`)], [archive.length, false]);
  writeFileSync(`${target}.part`, 'of another file');
  await assert.rejects(downloadToFile(owner, modfile, target), DamagedDownload);
  await downloadToFile(owner, modfile, target);
});

test('a download asks for the rest of the same version only, and computes the MD5 in a worker', async () => {
  const worker = new Worker(new URL('../../client/src/downloads/md5-worker.ts', import.meta.url));
  const send = fetchOf(api);
  const asked: (string | null)[] = [];
  let change = '';
  const breaking: typeof fetch = async (input, init) => {
    asked.push(new Headers(init?.headers).get('if-range'));
    const response = await send(input, init);
    const etag = response.headers.get('etag')!;
    if (asked.length % 2 === 0) return change ? new Response(response.body, { headers: { etag: change } }) : response;
    return new Response((await response.bytes()).subarray(0, 50_000), { status: response.status, headers: { etag } });
  };
  const client = owner.with({ fetch: breaking, retry: { wait: async () => {} } });
  const received = await Array.fromAsync(download(client, modfile, { md5: md5InWorker(worker) }));
  assert.ok(Buffer.concat(received).equals(archive));
  assert.equal(asked[0], null);
  assert.match(asked[1]!, /^"/);
  change = '"another"';
  await assert.rejects(Array.fromAsync(download(client, modfile, { md5: md5InWorker(worker) })), /has changed/);
  await worker.terminate();
});
