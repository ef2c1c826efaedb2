import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, open, readdir, rm, truncate, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { anAssembly, chunks, keysOf, read, storageRules, type TestStorage } from '../../../test/storages.ts';
import { unlessCode } from './durable.ts';
import { localStorage } from './local.ts';
import { StorageFull } from './storage.ts';

async function aStorage(t: TestContext): Promise<TestStorage & { folder: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-storage-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const within = (name: string) => readdir(join(folder, name)).catch(unlessCode('ENOENT'));
  const leftovers = async () => [await within('.tmp'), await within('.parts')].flatMap((names) => names ?? []).length;
  return { folder, storage: localStorage(folder), again: () => localStorage(folder), leftovers };
}

const temporariesOf = (folder: string) => readdir(join(folder, '.tmp'));

/** All file handles share one prototype, so its methods can be made to fail like a disk. */
async function breakDisk(t: TestContext, method: 'writeFile' | 'sync', code: string) {
  const handle = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  return t.mock.method(prototype, method, async () => {
    throw Object.assign(new Error(`${code}: broken disk`), { code });
  });
}

storageRules('local disk', 3, aStorage);

test('a move is durable: the names in both folders are synced', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('from/1', chunks('a'));
  await storage.put('to/0', chunks('b'));
  const sync = await breakDisk(t, 'sync', 'EIO');
  await assert.rejects(storage.move('from/1', 'to/1'), { code: 'EIO' });
  sync.mock.restore();
  assert.deepEqual(await keysOf(storage, ''), ['to/0', 'to/1']);
});

test('a storage whose folder does not exist yet lists nothing', async () => {
  assert.deepEqual(await keysOf(localStorage(join(tmpdir(), 'modstead-not-there')), ''), []);
});

test('a full disk is StorageFull, reads continue, and writes succeed when space returns', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('a', Buffer.from('earlier'));
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const broken = await breakDisk(t, 'writeFile', code);
    await assert.rejects(storage.put('b', Buffer.from('x')), StorageFull);
    await assert.rejects(storage.check(), StorageFull);
    assert.equal((await read(storage, 'a'))?.text, 'earlier');
    assert.deepEqual(await temporariesOf(folder), []);
    broken.mock.restore();
  }
  await storage.put('b', Buffer.from('x'));
  await storage.check();
});

test('a failed sync fails the put at once, is not repeated, and removes the file', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('a', Buffer.from('earlier'));
  const broken = await breakDisk(t, 'sync', 'EIO');
  await assert.rejects(storage.put('a', Buffer.from('later')), /EIO/);
  assert.equal(broken.mock.callCount(), 1);
  broken.mock.restore();
  assert.equal((await read(storage, 'a'))?.text, 'earlier');
  assert.deepEqual(await temporariesOf(folder), []);
});

test('put syncs the file, its folder and every new folder', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('first', Buffer.from('x'));
  const handle = await open(import.meta.filename, 'r');
  const sync = t.mock.method(Object.getPrototypeOf(handle), 'sync');
  await handle.close();
  await storage.put('a/b/c', Buffer.from('x'));
  assert.equal(sync.mock.callCount(), 4, 'two parents of new folders, the file, and the folder it moved to');
  await storage.put('a/b/d', Buffer.from('x'));
  assert.equal(sync.mock.callCount(), 6, 'only the file and its folder');
});

test('check removes temporary files that are unchanged for an hour, and only those', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.check();
  const nowSeconds = Date.now() / 1000;
  for (const [name, ageSeconds] of [
    ['old', 3700],
    ['fresh', 3500],
  ] as const) {
    await writeFile(join(folder, '.tmp', name), 'x');
    await utimes(join(folder, '.tmp', name), nowSeconds - ageSeconds, nowSeconds - ageSeconds);
  }
  await storage.check();
  assert.deepEqual(await temporariesOf(folder), ['fresh']);
});

test('check throws when the folder cannot be written', async (t) => {
  const { folder } = await aStorage(t);
  await writeFile(join(folder, 'file'), 'x');
  await assert.rejects(localStorage(join(folder, 'file', 'below')).check());
});

test('a list contains no temporary files', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('a', Buffer.from('x'));
  await writeFile(join(folder, '.tmp', 'left'), 'x');
  assert.deepEqual(await keysOf(storage, ''), ['a']);
});

test('finish names parts that are missing or changed', async (t) => {
  const { folder, storage } = await aStorage(t);
  const { assembly, parts } = await anAssembly(storage, Buffer.from('0123456789'), 3);
  const partial = join(folder, '.parts', `uploads+a~${assembly.handle}`);
  await writeFile(partial, '012xx567');
  await assert.rejects(storage.assemblies.finish(assembly, parts), { name: 'PartsDamaged', parts: [2, 3, 4] });
  await rm(partial);
  await assert.rejects(storage.assemblies.finish(assembly, parts), { name: 'PartsDamaged', parts: [1, 2, 3, 4] });
});

test('a file of one part is finished without what an aborted attempt has left after it', async (t) => {
  const { folder, storage } = await aStorage(t);
  const { assembly, parts } = await anAssembly(storage, Buffer.from('0123456789'), 10);
  const partial = join(folder, '.parts', `uploads+a~${assembly.handle}`);
  // Sparse, and more than can be read at once.
  await truncate(partial, 3 * 1024 ** 3);
  const sha256 = createHash('sha256').update('0123456789').digest('hex');
  const md5 = createHash('md5').update('0123456789').digest('hex');
  assert.deepEqual(await storage.assemblies.finish(assembly, parts), { bytes: 10, md5, sha256 });
  assert.deepEqual(await read(storage, 'uploads/a'), { bytes: 10, text: '0123456789' });
  await writeFile(join(folder, 'uploads', 'a'), '01234');
  await assert.rejects(storage.assemblies.finish(assembly, parts), { name: 'PartsDamaged', parts: [1] });
});

test('a finished file whose bytes changed before it was recorded takes the damaged parts again', async (t) => {
  const { folder, storage } = await aStorage(t);
  const { assembly, parts } = await anAssembly(storage, Buffer.from('0123456789'), 3);
  const { sha256 } = await storage.assemblies.finish(assembly, parts);
  await writeFile(join(folder, 'uploads', 'a'), '012xx56789');
  await assert.rejects(storage.assemblies.finish(assembly, parts), { name: 'PartsDamaged', parts: [2] });
  await storage.assemblies.putPart(assembly, parts[1]!, chunks('345'));
  assert.equal((await storage.assemblies.finish(assembly, parts)).sha256, sha256);
});

test('discarding removes the file of an assembly whose handle was never recorded', async (t) => {
  const { storage, leftovers } = await aStorage(t);
  await storage.assemblies.begin('uploads/a');
  await storage.assemblies.begin('uploads/ab');
  await storage.assemblies.discard({ key: 'uploads/a', handle: '' });
  assert.equal(await leftovers(), 1);
});

test('room is the free space of the disk minus the reserve', async (t) => {
  const { folder, storage } = await aStorage(t);
  assert.ok((await storage.room())! > 0);
  assert.equal(await localStorage(folder, { bytesKept: 2 ** 60 }).room(), 0);
});

test('put returns the hashes of a body of any length and in any chunks, also for many bodies at once', async (t) => {
  const { storage } = await aStorage(t);
  const gathered = 256 * 1024;
  const lengths = [0, 1, gathered - 1, gathered, gathered + 1, 2 * gathered, 5 * gathered + 3];
  const bodyOf = (length: number) => Buffer.alloc(length, `body of ${length}, `);
  async function* cut(body: Buffer, size: number) {
    for (let at = 0; at < body.length; at += size) yield body.subarray(at, at + size);
  }
  await Promise.all(
    lengths.flatMap((length) =>
      [1_000, 70_001, 3 * gathered].map(async (size) => {
        const body = bodyOf(length);
        const key = `body/${length}-${size}`;
        const hash = (name: string) => createHash(name).update(body).digest('hex');
        const stored = await storage.put(key, cut(body, size));
        assert.deepEqual(stored, { bytes: length, md5: hash('md5'), sha256: hash('sha256') });
        assert.equal((await read(storage, key))?.text, body.toString());
      }),
    ),
  );
});

test('a long body that breaks off, or that the disk refuses, leaves no file and does not affect others', async (t) => {
  const { folder, storage } = await aStorage(t);
  async function* breaking() {
    for (let i = 0; i < 10; i += 1) yield Buffer.alloc(100_000, 'x');
    throw new Error('gone');
  }
  const whole = storage.put('whole', Buffer.alloc(1_000_000, 'y'));
  await assert.rejects(storage.put('broken', breaking()), /gone/);
  assert.equal((await whole).sha256, createHash('sha256').update(Buffer.alloc(1_000_000, 'y')).digest('hex'));
  const broken = await breakDisk(t, 'writeFile', 'ENOSPC');
  await assert.rejects(storage.put('full', Buffer.alloc(1_000_000, 'z')), StorageFull);
  broken.mock.restore();
  assert.deepEqual(await keysOf(storage, ''), ['whole']);
  assert.deepEqual(await temporariesOf(folder), []);
});
