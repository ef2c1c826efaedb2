import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, open, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { localStorage } from './local.ts';
import { type Storage, StorageFull, TooLarge } from './storage.ts';

async function aStorage(t: TestContext): Promise<{ folder: string; storage: Storage }> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-storage-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return { folder, storage: localStorage(folder) };
}

const read = async (storage: Storage, key: string, range?: { start: number; end: number }) => {
  const found = await storage.open(key, range);
  return found && { bytes: found.bytes, text: (await buffer(found.stream)).toString() };
};

async function* chunks(...parts: string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

const keysOf = async (storage: Storage, prefix: string) => (await Array.fromAsync(storage.list(prefix))).sort();

const temporariesOf = (folder: string) => readdir(join(folder, '.tmp'));

/** Every file handle shares one prototype, so its methods can be made to fail as a disk does. */
async function breakDisk(t: TestContext, method: 'writeFile' | 'sync', code: string) {
  const handle = await open(import.meta.filename, 'r');
  const prototype = Object.getPrototypeOf(handle);
  await handle.close();
  return t.mock.method(prototype, method, async () => {
    throw Object.assign(new Error(`${code}: broken disk`), { code });
  });
}

test('what is put can be opened again, with its length and hashes', async (t) => {
  const { storage } = await aStorage(t);
  const stored = await storage.put('mods/1/file.zip', chunks('hello ', 'world'));
  const hash = (name: string) => createHash(name).update('hello world').digest('hex');
  assert.deepEqual(stored, { bytes: 11, md5: hash('md5'), sha256: hash('sha256') });
  assert.deepEqual(await read(storage, 'mods/1/file.zip'), { bytes: 11, text: 'hello world' });
  assert.deepEqual(await storage.stat('mods/1/file.zip'), { bytes: 11 });
});

test('a moved object is found under its new key alone, and replaces what was there', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('incoming/1', chunks('new'));
  await storage.put('files/ab/1', chunks('old'));
  const handle = await storage.open('files/ab/1');
  await storage.move('incoming/1', 'files/ab/1');
  assert.deepEqual(await keysOf(storage, ''), ['files/ab/1']);
  assert.equal((await read(storage, 'files/ab/1'))?.text, 'new');
  // Who has begun to read goes on reading what was there.
  assert.equal((await buffer(handle!.stream)).toString(), 'old');
  await storage.move('files/ab/1', 'elsewhere/2');
  assert.equal((await readFile(join(folder, 'elsewhere/2'))).toString(), 'new');
});

test('what is not there cannot be moved, and no key leads out of the folder', async (t) => {
  const { storage } = await aStorage(t);
  await assert.rejects(storage.move('incoming/none', 'files/1'), { code: 'ENOENT' });
  await storage.put('a', chunks('a'));
  await assert.rejects(storage.move('a', '../outside'), /not a storage key/);
  await assert.rejects(storage.move('../outside', 'b'), /not a storage key/);
  assert.deepEqual(await keysOf(storage, ''), ['a']);
});

test('a move is durable: the names in both folders are synced', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('from/1', chunks('a'));
  await storage.put('to/0', chunks('b'));
  const sync = await breakDisk(t, 'sync', 'EIO');
  await assert.rejects(storage.move('from/1', 'to/1'), { code: 'EIO' });
  sync.mock.restore();
  assert.deepEqual(await keysOf(storage, ''), ['to/0', 'to/1']);
});

test('an empty object is an object', async (t) => {
  const { storage } = await aStorage(t);
  assert.equal((await storage.put('empty', new Uint8Array())).bytes, 0);
  assert.deepEqual(await read(storage, 'empty'), { bytes: 0, text: '' });
});

test('a range gives the bytes between its ends, both included, and is cut at the end of the object', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('a', Buffer.from('0123456789'));
  assert.deepEqual(await read(storage, 'a', { start: 2, end: 4 }), { bytes: 3, text: '234' });
  assert.deepEqual(await read(storage, 'a', { start: 8, end: 99 }), { bytes: 2, text: '89' });
  await assert.rejects(storage.open('a', { start: 10, end: 12 }), RangeError);
  await assert.rejects(storage.open('a', { start: 3, end: 2 }), RangeError);
});

test('what is not there, or is only a folder, is undefined and not an error', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('mods/1', Buffer.from('x'));
  for (const key of ['nothing', 'mods', 'mods/1/below'])
    assert.deepEqual([await storage.open(key), await storage.stat(key)], [undefined, undefined], key);
});

test('a second put replaces the first as a whole', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('a', Buffer.from('a long first version'));
  await storage.put('a', Buffer.from('second'));
  assert.equal((await read(storage, 'a'))?.text, 'second');
  assert.deepEqual(await temporariesOf(folder), []);
});

test('an opened object stays readable while it is replaced and removed', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('a', Buffer.from('first'));
  const opened = await storage.open('a');
  await storage.put('a', Buffer.from('second'));
  await storage.remove('a');
  assert.equal((await buffer(opened!.stream)).toString(), 'first');
});

test('removing twice is no error, and others stay', async (t) => {
  const { storage } = await aStorage(t);
  await storage.put('a/1', Buffer.from('x'));
  await storage.put('a/2', Buffer.from('x'));
  await storage.remove('a/1');
  await storage.remove('a/1');
  await storage.remove('a');
  assert.deepEqual(await keysOf(storage, ''), ['a/2']);
});

test('a list holds every key that begins with the prefix and no temporary file', async (t) => {
  const { folder, storage } = await aStorage(t);
  for (const key of ['mods/1/a', 'mods/1/b/c', 'mods/12', 'mods/2', 'modstead', 'other/1'])
    await storage.put(key, Buffer.from('x'));
  await writeFile(join(folder, '.tmp', 'left'), 'x');
  assert.deepEqual(await keysOf(storage, 'mods/1'), ['mods/1/a', 'mods/1/b/c', 'mods/12']);
  assert.deepEqual(await keysOf(storage, 'mods/1/'), ['mods/1/a', 'mods/1/b/c']);
  assert.deepEqual(await keysOf(storage, 'mods'), ['mods/1/a', 'mods/1/b/c', 'mods/12', 'mods/2', 'modstead']);
  assert.equal((await keysOf(storage, '')).length, 6);
  assert.deepEqual(await keysOf(storage, 'nothing/'), []);
});

test('a storage whose folder is not there yet lists nothing', async () => {
  assert.deepEqual(await keysOf(localStorage(join(tmpdir(), 'modstead-not-there')), ''), []);
});

test('every way in refuses what is not a key', async (t) => {
  const { storage } = await aStorage(t);
  for (const key of ['../out', '/etc/passwd', 'a/../../out', 'a\0', '']) {
    await assert.rejects(storage.put(key, Buffer.from('x')), /not a storage key/);
    await assert.rejects(storage.open(key), /not a storage key/);
    await assert.rejects(storage.stat(key), /not a storage key/);
    await assert.rejects(storage.remove(key), /not a storage key/);
    if (key !== '') await assert.rejects(keysOf(storage, key), /not a storage key/);
  }
});

test('a body beyond its limit is refused while it arrives, and leaves nothing', async (t) => {
  const { folder, storage } = await aStorage(t);
  let given = 0;
  async function* endless() {
    for (;;) {
      given += 1000;
      yield Buffer.alloc(1000);
    }
  }
  await assert.rejects(storage.put('a', endless(), { bytesMax: 4500 }), TooLarge);
  assert.equal(given, 5000);
  assert.equal(await storage.stat('a'), undefined);
  assert.deepEqual(await temporariesOf(folder), []);
  assert.equal((await storage.put('a', Buffer.alloc(4500), { bytesMax: 4500 })).bytes, 4500);
});

test('a body that breaks off leaves the earlier object and no temporary file', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('a', Buffer.from('earlier'));
  async function* broken() {
    yield Buffer.from('half');
    throw new Error('client gone');
  }
  await assert.rejects(storage.put('a', broken()), /client gone/);
  assert.equal((await read(storage, 'a'))?.text, 'earlier');
  assert.deepEqual(await temporariesOf(folder), []);
});

test('a full disk is StorageFull, reads go on, and it heals when space returns', async (t) => {
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

test('a failed sync fails the put at once, is not tried again, and drops the file', async (t) => {
  const { folder, storage } = await aStorage(t);
  await storage.put('a', Buffer.from('earlier'));
  const broken = await breakDisk(t, 'sync', 'EIO');
  await assert.rejects(storage.put('a', Buffer.from('later')), /EIO/);
  assert.equal(broken.mock.callCount(), 1);
  broken.mock.restore();
  assert.equal((await read(storage, 'a'))?.text, 'earlier');
  assert.deepEqual(await temporariesOf(folder), []);
});

test('the file, its folder and every folder newly made are synced', async (t) => {
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

test('many at once into one new folder all arrive', async (t) => {
  const { storage } = await aStorage(t);
  const names = Array.from({ length: 50 }, (_, index) => `new/deep/${index}`);
  await Promise.all(names.map((key) => storage.put(key, Buffer.from(key))));
  assert.deepEqual(await keysOf(storage, 'new/'), names.sort());
});

test('check removes temporary files that nobody touched for an hour, and only those', async (t) => {
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

test('any sequence of chunks comes back byte for byte', async (t) => {
  const { folder, storage } = await aStorage(t);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 8 }), async (parts) => {
      async function* body() {
        yield* parts;
      }
      const stored = await storage.put('any', body());
      const whole = Buffer.concat(parts);
      assert.equal(stored.bytes, whole.length);
      assert.deepEqual(await readFile(join(folder, 'any')), whole);
    }),
    { numRuns: 50 },
  );
});

/** Parts of three bytes, and what the storage is told of them. */
const partsOf = (text: string) =>
  (text.match(/.{1,3}/g) ?? []).map((part, index) => ({
    number: index + 1,
    start: index * 3,
    bytes: part.length,
    sha256: createHash('sha256').update(part).digest('hex'),
    tag: '',
    text: part,
  }));

async function anAssembly(storage: Storage, text: string, order: (parts: ReturnType<typeof partsOf>) => unknown) {
  const parts = partsOf(text);
  const assembly = { key: 'uploads/a', handle: await storage.assemblies.begin('uploads/a') };
  order(parts);
  for (const part of parts) await storage.assemblies.putPart(assembly, part, chunks(part.text));
  return { assembly, parts: parts.sort((one, other) => one.number - other.number) };
}

test('parts in any order make an object, which is not there before it is whole', async (t) => {
  const { storage } = await aStorage(t);
  const { assembly, parts } = await anAssembly(storage, '0123456789', (all) => all.reverse());
  assert.deepEqual(await keysOf(storage, ''), []);
  const hash = (name: string) => createHash(name).update('0123456789').digest('hex');
  const stored = { bytes: 10, md5: hash('md5'), sha256: hash('sha256') };
  assert.deepEqual(await storage.assemblies.finish(assembly, parts), stored);
  assert.equal((await read(storage, 'uploads/a'))?.text, '0123456789');
  assert.deepEqual(await storage.assemblies.finish(assembly, parts), stored, 'and once more');
  await storage.assemblies.discard(assembly);
  await storage.assemblies.discard(assembly);
  assert.deepEqual(await keysOf(storage, ''), []);
});

test('parts that are gone or changed are named', async (t) => {
  const { folder, storage } = await aStorage(t);
  const { assembly, parts } = await anAssembly(storage, '0123456789', () => {});
  await writeFile(join(folder, '.parts', 'uploads+a'), '012xx567');
  await assert.rejects(storage.assemblies.finish(assembly, parts), { name: 'PartsDamaged', parts: [2, 3, 4] });
  await rm(join(folder, '.parts', 'uploads+a'));
  await assert.rejects(storage.assemblies.finish(assembly, parts), { name: 'PartsDamaged', parts: [1, 2, 3, 4] });
});

test('a part longer than a buffer is written whole, and one that breaks off does not become one', async (t) => {
  const { storage } = await aStorage(t);
  const assembly = { key: 'uploads/a', handle: await storage.assemblies.begin('uploads/a') };
  const bytes = Buffer.from('0123456789'.repeat(100_000));
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += 77_777) yield bytes.subarray(at, at + 77_777);
  }
  await storage.assemblies.putPart(assembly, { number: 1, start: 0, bytes: bytes.length }, pieces());
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const part = { number: 1, start: 0, bytes: bytes.length, sha256, tag: '' };
  async function* broken() {
    yield bytes.subarray(0, 300_000);
    throw new Error('client gone');
  }
  const second = { number: 2, start: bytes.length, bytes: 400_000 };
  await assert.rejects(storage.assemblies.putPart(assembly, second, broken()), /client gone/);
  assert.equal((await storage.assemblies.finish(assembly, [part])).sha256, sha256);
  assert.deepEqual(await storage.stat('uploads/a'), { bytes: bytes.length });
});

test('room is what the disk has, less what is kept free', async (t) => {
  const { folder, storage } = await aStorage(t);
  assert.ok((await storage.room())! > 0);
  assert.equal(await localStorage(folder, { bytesKept: 2 ** 60 }).room(), 0);
});
