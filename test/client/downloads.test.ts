import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { createMd5 } from '../../client/src/downloads/md5.ts';
import { DamagedDownload, download } from '../../client/src/index.ts';
import { startApi } from '../api.ts';
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
