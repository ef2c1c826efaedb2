// Runs on one database: the client talks to the API alone.
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { after, test } from 'node:test';
import { type UploadProgress, type UploadStorage, uploadFile, uploadInParts } from '../../client/src/index.ts';
import { startApi } from '../api.ts';
import { startS3 } from '../s3.ts';
import { STORED, zipOf } from '../zips.ts';
import { clientOf, fetchOf } from './fetching.ts';

const PART_BYTES = 52_428_800;
const api = await startApi();
const mod = await api.aMod();
const target = { game_id: mod.game_id, mod_id: mod.id };
const { token } = await api.as(mod.owner);
const data = { name: 'data.bin', content: randomBytes(PART_BYTES + 1_000), method: STORED };
const archive = new File([new Uint8Array(zipOf([data]))], 'mod.zip');

function aStorage(): UploadStorage {
  const stored = new Map<string, string>();
  return {
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  };
}

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
  const storage = aStorage();
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

test('with a bucket the parts go there, and through the service once the bucket cannot be reached', async () => {
  const s3 = await startS3();
  after(() => s3.stop());
  const stored = await startApi({ settings: { MODSTEAD_STORAGE_URL: s3.url, MODSTEAD_JOBS: 'off' } });
  const owned = await stored.aMod();
  const to = { game_id: owned.game_id, mod_id: owned.id };
  const owner = await stored.as(owned.owner);
  const send = fetchOf(stored);
  const through: string[] = [];
  const watching: typeof fetch = async (input, init) => {
    if (init?.method === 'PUT') through.push(new URL(String(input)).hostname === '127.0.0.1' ? 'bucket' : 'service');
    return send(input, init);
  };
  const client = clientOf(stored, { token: owner.token, fetch: watching });
  await uploadInParts(client, to, archive, { fingerprint: 'one', parallel: 1 });
  assert.deepEqual(through.splice(0), ['bucket', 'bucket']);
  const isOfService = (agent = '') => agent.startsWith('aws-sdk');
  s3.fault = ({ method, headers }) => (method === 'PUT' && !isOfService(headers['user-agent']) ? 'hang up' : undefined);
  await uploadInParts(client, to, archive, { fingerprint: 'two', parallel: 1 });
  assert.deepEqual(through, ['bucket', 'service', 'service']);
});

const { storage: bytes } = api.app();
/** Where the service is still busy with the last request of a killed process. */
const HOLDS = {
  assembling: [bytes.assemblies, 'finish'],
  inspecting: [bytes, 'read'],
  moving: [bytes, 'move'],
} as const;

interface Kill {
  readonly request: RegExp;
  /** The process ends before it has sent the request, or before it sees the answer. */
  readonly isSent: boolean;
  readonly during?: keyof typeof HOLDS;
}

const MOMENTS: Readonly<Record<string, Kill>> = {
  'before a part was sent': { request: /^PUT .*multipart$/, isSent: false },
  'after a part was received': { request: /^PUT .*multipart$/, isSent: true },
  'before the completion was sent': { request: /complete$/, isSent: false },
  'while the parts were assembled': { request: /complete$/, isSent: true, during: 'assembling' },
  'after the completion': { request: /complete$/, isSent: true },
  'before the file was added': { request: /^POST .*files$/, isSent: false },
  'while the file was inspected': { request: /^POST .*files$/, isSent: true, during: 'inspecting' },
  'while the file was moved': { request: /^POST .*files$/, isSent: true, during: 'moving' },
  'after the file was added': { request: /^POST .*files$/, isSent: true },
};

for (const version of ['1.0.0', '2.0.0'])
  for (const [moment, { request, isSent, during }] of Object.entries(MOMENTS))
    test(`an upload that was killed ${moment} becomes one file, of version ${version}, when it is called again`, async (t) => {
      const owned = await api.aMod();
      const to = { game_id: owned.game_id, mod_id: owned.id };
      const file = new File([new Uint8Array(zipOf({ 'a.txt': api.unique('content') }))], 'mod.zip');
      const storage = aStorage();
      const { token: owner } = await api.as(owned.owner);
      const [reached, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      if (during) {
        const [held, name] = HOLDS[during] as unknown as [Record<string, (...given: unknown[]) => unknown>, string];
        const real = held[name]!;
        const hold = async (...given: unknown[]) => {
          reached.resolve();
          await released.promise;
          return real.apply(held, given);
        };
        t.mock.method(held, name, hold, { times: 1 });
      }
      const answered = Promise.withResolvers<unknown>();
      const send = fetchOf(api);
      const dying: typeof fetch = (input, init) => {
        if (!request.test(`${init?.method} ${new URL(String(input)).pathname}`)) return send(input, init);
        answered.resolve(isSent ? send(input, init) : undefined);
        return new Promise(() => {});
      };
      void uploadFile(clientOf(api, { token: owner, fetch: dying }), to, file, { version: '1.0.0' }, { storage });
      await (during ? reached.promise : answered.promise);
      // Whenever the second process would wait, the service goes on with what the first one has sent.
      const goOn = async () => {
        released.resolve();
        await answered.promise;
      };
      const client = clientOf(api, { token: owner, retry: { wait: goOn } });
      const added = await uploadFile(client, to, file, { version }, { storage });
      await goOn();
      const { data } = await client.call('GET /games/{game_id}/mods/{mod_id}/files', to);
      assert.deepEqual(
        data.map((each) => [each.id, each.version]),
        [[added.id, version]],
      );
    });
