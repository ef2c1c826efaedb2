import assert from 'node:assert/strict';
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createNetServer } from 'node:net';
import test, { after, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import { findCeph, startCeph } from '../../../test/ceph.ts';
import { type S3Server, startS3 } from '../../../test/s3.ts';
import { anAssembly, chunks, keysOf, read, storageRules, type TestStorage } from '../../../test/storages.ts';
import { type S3Location, toS3Location } from './location.ts';
import { s3Storage } from './s3.ts';
import { toStorageError } from './s3-client.ts';
import { bytesOf } from './s3-download.ts';
import type { S3HashAnswer, S3HashRequest } from './s3-hash-worker.ts';
import { StorageFull, StorageUnavailable } from './storage.ts';

const PART_BYTES = 5 * 1024 ** 2;
const faulty = await startS3();
after(() => faulty.stop());
const missing = findCeph();
/** Starts while the tests of the own server run. */
const ceph = missing ? undefined : startCeph();
ceph?.catch(() => {});
after(async () => (await ceph)?.stop());

const locationIn = ({ url }: { url: string }): S3Location => {
  const location = toS3Location(url)!;
  return { ...location, prefix: `${location.prefix}${randomUUID()}/` };
};

type BucketStorage = TestStorage & { location: S3Location };

/** A storage in a bucket of a server, with a function that counts its incomplete uploads. */
function storageOn(
  t: TestContext,
  url: string,
  uploadsUnder: (location: S3Location) => Promise<number>,
): BucketStorage {
  const location = locationIn({ url });
  const again = () => {
    const storage = s3Storage(location);
    t.after(() => storage.close?.());
    return storage;
  };
  return { storage: again(), location, again, leftovers: () => uploadsUnder(location) };
}

const onOwn = async (t: TestContext) => storageOn(t, faulty.url, async () => faulty.uploads.size);
const onCeph = async (t: TestContext) => {
  const { url, uploadsUnder } = await ceph!;
  return storageOn(t, url, uploadsUnder);
};

async function aBroken(t: TestContext, fault: NonNullable<S3Server['fault']>) {
  const own = await startS3();
  const storage = s3Storage(locationIn(own));
  t.after(async () => {
    await storage.close?.();
    await own.stop();
  });
  await storage.put('earlier', Buffer.from('earlier'));
  own.requests.length = 0;
  own.fault = fault;
  return { own, storage };
}

bucketRules('S3', onOwn);

test('a failed request is repeated without an error', async (t) => {
  const faults = [[503, 'SlowDown'] as const, 'hang up' as const];
  const { own, storage } = await aBroken(t, () => faults.shift());
  await storage.put('a', Buffer.from('x'));
  assert.equal(own.requests.length, 3);
  assert.equal((await read(storage, 'a'))?.text, 'x');
});

test('a completion whose response was lost counts as done', async (t) => {
  const { own, storage } = await aBroken(t, () => undefined);
  const { assembly, parts } = await anAssembly(storage, Buffer.from('whole'), PART_BYTES);
  const [upload] = own.uploads.values();
  const key = [...own.objects.keys()][0]!.replace('earlier', 'uploads/a');
  let isLost = true;
  own.fault = ({ method }) => {
    if (method !== 'POST' || !isLost) return undefined;
    isLost = false;
    own.objects.set(key, { bytes: Buffer.concat([...upload!.values()]), modified: new Date() });
    own.uploads.clear();
    return 'hang up';
  };
  assert.equal((await storage.assemblies.finish(assembly, parts)).bytes, 5);
});

test('a full bucket is StorageFull, reads continue, and writes succeed when space returns', async (t) => {
  const { own, storage } = await aBroken(t, ({ method }) =>
    method === 'PUT' ? [507, 'InsufficientStorage'] : undefined,
  );
  await assert.rejects(storage.put('a', Buffer.from('x')), StorageFull);
  await assert.rejects(storage.check(), StorageFull);
  assert.equal((await read(storage, 'earlier'))?.text, 'earlier');
  own.fault = undefined;
  await storage.put('a', Buffer.from('x'));
  await storage.check();
});

test('a server that is unreachable or refuses the key is StorageUnavailable, and not a missing object', async (t) => {
  const refusals = ['hang up', [500, 'InternalError'], [403, 'AccessDenied']] as const;
  await Promise.all(
    refusals.map(async (fault) => {
      const { own, storage } = await aBroken(t, () => fault);
      // At once, because the delays between the attempts are real.
      const work = [storage.put('a', Buffer.from('x')), storage.stat('earlier'), keysOf(storage, '')];
      await Promise.all(work.map((each) => assert.rejects(each as Promise<unknown>, StorageUnavailable)));
      own.fault = undefined;
      assert.equal((await read(storage, 'earlier'))?.text, 'earlier');
    }),
  );
});

test('if S3 parts are lost or changed, all parts have to be sent again', async (t) => {
  const { own, storage } = await aBroken(t, () => undefined);
  const whole = Buffer.alloc(PART_BYTES + 1, 'a');
  const all = { name: 'PartsDamaged', parts: [1, 2] };
  const lost = await anAssembly(storage, whole, PART_BYTES);
  own.uploads.get(lost.assembly.handle)!.delete(2);
  await assert.rejects(storage.assemblies.finish(lost.assembly, lost.parts), all);
  own.uploads.clear();
  await assert.rejects(storage.assemblies.finish(lost.assembly, lost.parts), all);
  const changed = await anAssembly(storage, whole, PART_BYTES);
  const others = changed.parts.map((part) => ({ ...part, sha256: '0'.repeat(64) }));
  await assert.rejects(storage.assemblies.finish(changed.assembly, others), all);
  assert.deepEqual(await keysOf(storage, ''), ['earlier']);
});

test('a location has bucket, endpoint, region, prefix and key, and refuses misspelt parameters', () => {
  assert.deepEqual(toS3Location('s3://id:a%2Fb@mods?endpoint=https://s3.example.com&region=eu-1&prefix=a/b'), {
    bucket: 'mods',
    endpoint: 'https://s3.example.com',
    region: 'eu-1',
    prefix: 'a/b/',
    credentials: { accessKeyId: 'id', secretAccessKey: 'a/b' },
    isPathStyle: true,
  });
  assert.deepEqual(toS3Location('s3://mods'), { bucket: 'mods', prefix: '', isPathStyle: false });
  assert.equal(toS3Location('s3://mods?addressing=path')?.isPathStyle, true);
  for (const wrong of [
    'mods',
    'https://mods',
    's3://',
    's3://M',
    's3://mods/prefix',
    's3://mods?endpont=https://a',
    's3://mods?endpoint=s3.example.com',
    's3://mods?prefix=/a',
    's3://mods?prefix=../a',
    's3://mods?region=EU 1',
    's3://mods?addressing=dns',
    's3://id@mods',
  ])
    assert.equal(toS3Location(wrong), undefined, wrong);
});

/** The rules of every bucket, in addition to those of every storage. */
function bucketRules(name: string, aStorage: (t: TestContext) => Promise<BucketStorage>): void {
  storageRules(name, PART_BYTES, aStorage);

  test(`${name}: a body longer than an S3 part is uploaded in several, and an abort leaves nothing`, async (t) => {
    const { storage, leftovers } = await aStorage(t);
    const bytes = randomBytes(11 * 1024 ** 2);
    async function* body(breaks: boolean) {
      for (let at = 0; at < bytes.length; at += 1_000_003) yield bytes.subarray(at, at + 1_000_003);
      if (breaks) throw new Error('client gone');
    }
    await assert.rejects(storage.put('large', body(true)), /client gone/);
    assert.equal(await storage.stat('large'), undefined);
    assert.equal(await leftovers(), 0);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    assert.equal((await storage.put('large', body(false))).sha256, sha256);
    const held = (await storage.read('large'))!;
    assert.equal(await held.digest(), sha256);
    const into = Buffer.alloc(10);
    await held.readInto(into, 11_000_000);
    assert.deepEqual(into, bytes.subarray(11_000_000, 11_000_010));
  });

  test(`${name}: an object that is too long for one copy is moved in parts`, async (t) => {
    const { location } = await aStorage(t);
    const storage = s3Storage(location, { copyBytesMax: PART_BYTES });
    const stored = await storage.put('from', Buffer.alloc(2 * PART_BYTES + 1, 'abc'));
    await storage.move('from', 'to');
    assert.deepEqual(await keysOf(storage, ''), ['to']);
    assert.equal(await (await storage.read('to'))!.digest(), stored.sha256);
    await storage.close?.();
  });

  test(`${name}: a link gives anyone the object, under its file name, and nothing else`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('a', Buffer.from('0123456789'));
    await storage.put('b', Buffer.from('other'));
    const disposition = `attachment; filename="gr__e.zip"; filename*=UTF-8''gr%C3%B6%C3%9Fe.zip`;
    const link = await storage.link!('a', { seconds: 60, type: 'application/zip', disposition });
    const answer = await fetch(link, { headers: { range: 'bytes=2-4' } });
    assert.equal(answer.status, 206);
    assert.equal(answer.headers.get('content-type'), 'application/zip');
    assert.equal(answer.headers.get('content-disposition'), disposition);
    assert.equal(await answer.text(), '234');
    for (const other of [
      link.replace('/a?', '/b?'),
      link.replace('zip', 'exe'),
      link.replace('Expires=60', 'Expires=99'),
    ])
      assert.equal((await fetch(other)).status, 403);
    assert.equal((await fetch(link, { method: 'DELETE' })).status, 403);
  });

  test(`${name}: links use the public endpoint if there is one`, async (t) => {
    const { location } = await aStorage(t);
    const storage = s3Storage({ ...location, publicEndpoint: 'https://files.example.com' });
    const link = await storage.link!('a', { seconds: 60, type: 'application/zip', disposition: 'attachment' });
    assert.ok(link.startsWith(`https://files.example.com/${location.bucket}/${location.prefix}a?`), link);
    await storage.close?.();
  });

  test(`${name}: an open object that was replaced is not read as if it were the same`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('a', Buffer.from('first'));
    const held = (await storage.read('a'))!;
    await storage.put('a', Buffer.from('other'));
    await assert.rejects(held.readInto(Buffer.alloc(5), 0), StorageUnavailable);
  });

  test(`${name}: the S3 parts of a part follow those of the part before it`, async (t) => {
    const { storage } = await aStorage(t);
    const whole = Buffer.concat([Buffer.alloc(3 * PART_BYTES, 'a'), Buffer.from('b')]);
    const { parts } = await anAssembly(storage, whole, 3 * PART_BYTES, (all) => all.reverse());
    const numbers = parts.map(({ tag }) => (JSON.parse(tag) as [number, string][]).map(([number]) => number));
    assert.deepEqual(numbers, [[1, 2], [3]]);
  });

  test(`${name}: an error of the body within a part is thrown unchanged`, async (t) => {
    const { storage } = await aStorage(t);
    const assembly = { key: 'uploads/c', handle: await storage.assemblies.begin('uploads/c') };
    async function* broken() {
      yield* chunks('half');
      throw new Error('client gone');
    }
    await assert.rejects(
      storage.assemblies.putPart(assembly, { number: 1, start: 0, bytes: 8 }, broken()),
      /client gone/,
    );
    await storage.assemblies.discard(assembly);
  });
}

/** The hashes that the reading thread returns for the response of a server. */
async function hashedFrom(t: TestContext, answer: RequestListener, lengths: readonly number[]): Promise<S3HashAnswer> {
  const server = createServer(answer);
  t.after(() => server.close());
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const link = `http://127.0.0.1:${(server.address() as AddressInfo).port}/object`;
  const workerData = { link, start: 0, lengths } satisfies S3HashRequest;
  const worker = new Worker(new URL('./s3-hash-worker.ts', import.meta.url), { workerData });
  return new Promise((resolve, reject) => worker.once('message', resolve).once('error', reject));
}

test('a read continues where the connection broke, and its hashes are right', async (t) => {
  const bytes = randomBytes(3_000_000);
  const requested: string[] = [];
  const answer: RequestListener = (request, response) => {
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    requested.push(request.headers.range ?? 'all');
    if (requested.length === 2) return void response.writeHead(503).end();
    response.writeHead(from > 0 ? 206 : 200, { 'content-length': bytes.length - from });
    if (requested.length > 3) return void response.end(bytes.subarray(from));
    response.write(bytes.subarray(from, from + 1_000_000), () => response.destroy());
  };
  const lengths = [1_200_000, 1_800_000];
  const hash = (part: Buffer) => createHash('sha256').update(part).digest('hex');
  assert.deepEqual(await hashedFrom(t, answer, lengths), {
    md5: createHash('md5').update(bytes).digest('hex'),
    sha256: hash(bytes),
    parts: [hash(bytes.subarray(0, 1_200_000)), hash(bytes.subarray(1_200_000))],
  });
  assert.equal(requested[0], 'all');
  assert.match(requested[3]!, /^bytes=[1-9]\d*-$/);
});

test('a read that the bucket refuses is not repeated', async (t) => {
  let requested = 0;
  const answer: RequestListener = (_, response) => {
    requested += 1;
    response.writeHead(403).end();
  };
  const { $metadata } = (await hashedFrom(t, answer, [1])) as Extract<S3HashAnswer, { name: string }>;
  assert.deepEqual([$metadata, requested], [{ httpStatusCode: 403 }, 1]);
});

test('a bucket with invalid responses is unavailable, like one that cannot be reached', async (t) => {
  const server = createNetServer((socket) => void socket.end('nonsense')).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const link = `http://127.0.0.1:${(server.address() as AddressInfo).port}/object`;
  const refused = await Array.fromAsync(bytesOf({ link, start: 0 })).catch((error) => error);
  assert.ok(toStorageError(refused) instanceof StorageUnavailable, String(refused));
});

// Last, so that the server has had time to start.
if (ceph) bucketRules('S3 of Ceph', onCeph);
else test('S3 of Ceph', { skip: missing!.reason }, () => {});
