// Runs on one database: the client talks to the API alone.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { type UploadProgress, uploadInParts } from '../../client/src/index.ts';
import { startApi } from '../api.ts';
import { STORED, zipOf } from '../zips.ts';
import { clientOf, fetchOf } from './fetching.ts';

const PART_BYTES = 52_428_800;
const api = await startApi();
const mod = await api.aMod();
const target = { game_id: mod.game_id, mod_id: mod.id };
const { token } = await api.as(mod.owner);
const data = { name: 'data.bin', content: randomBytes(PART_BYTES + 1_000), method: STORED };
const archive = new File([new Uint8Array(zipOf([data]))], 'mod.zip');

test('an upload that is interrupted sends only the missing part when it is called again, and becomes a file', async () => {
  const send = fetchOf(api);
  const sentParts: string[] = [];
  const pause = new AbortController();
  const watching: typeof fetch = async (input, init) => {
    const response = await send(input, init);
    const range = new Headers(init?.headers).get('content-range');
    if (range) sentParts.push(range);
    if (range) pause.abort(new Error('The page was reloaded.'));
    return response;
  };
  const client = clientOf(api, { token, fetch: watching });
  await assert.rejects(uploadInParts(client, target, archive, { parallel: 1, signal: pause.signal }), /reloaded/);
  const progress: UploadProgress[] = [];
  const stored = new Map<string, string>();
  const storage = {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  };
  const uploadId = await uploadInParts(client, target, archive, { storage, onProgress: (at) => progress.push(at) });
  assert.deepEqual(sentParts, [
    `bytes 0-${PART_BYTES - 1}/${archive.size}`,
    `bytes ${PART_BYTES}-${archive.size - 1}/${archive.size}`,
  ]);
  assert.deepEqual(
    progress.map(({ storedBytes }) => storedBytes),
    [PART_BYTES, archive.size],
  );
  assert.equal(await uploadInParts(client, target, archive, { storage }), uploadId);
  assert.equal(sentParts.length, 2);
  const file = await client.call('POST /games/{game_id}/mods/{mod_id}/files', {
    ...target,
    upload_id: uploadId,
    version: '1.0.0',
  });
  assert.deepEqual([file.filesize, file.filename, file.version], [archive.size, 'mod.zip', '1.0.0']);
});
