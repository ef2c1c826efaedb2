import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { type Storage, TooLarge } from '../src/platform/storage/storage.ts';

/** A storage of one test. */
export interface TestStorage {
  readonly storage: Storage;
  /** Opens the same storage as another process would. */
  again(): Storage;
  /** The number of files that are not objects, such as temporary files and parts. */
  leftovers(): Promise<number>;
}

export const read = async (storage: Storage, key: string, range?: { start: number; end: number }) => {
  const found = await storage.open(key, range);
  return found && { bytes: found.bytes, text: (await buffer(found.stream)).toString() };
};

export async function* chunks(...parts: (string | Buffer)[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

export const keysOf = async (storage: Storage, prefix: string) => (await Array.fromAsync(storage.list(prefix))).sort();

/** Splits the content into parts of this length, with their metadata. */
export const partsOf = (whole: Buffer, partBytes: number) =>
  Array.from({ length: Math.ceil(whole.length / partBytes) }, (_, index) => {
    const content = whole.subarray(index * partBytes, (index + 1) * partBytes);
    const sha256 = createHash('sha256').update(content).digest('hex');
    return { number: index + 1, start: index * partBytes, bytes: content.length, sha256, tag: '', content };
  });

export async function anAssembly(
  storage: Storage,
  whole: Buffer,
  partBytes: number,
  order: (parts: ReturnType<typeof partsOf>) => unknown = () => {},
) {
  const parts = partsOf(whole, partBytes);
  const assembly = { key: 'uploads/a', handle: await storage.assemblies.begin('uploads/a') };
  order(parts);
  for (const part of parts) part.tag = await storage.assemblies.putPart(assembly, part, chunks(part.content));
  return { assembly, parts: parts.sort((one, other) => one.number - other.number) };
}

/** Tests that every storage must pass. All parts except the last have this length. */
export function storageRules(
  name: string,
  partBytes: number,
  aStorage: (t: TestContext) => Promise<TestStorage>,
): void {
  test(`${name}: a stored object can be opened, with its length and hashes`, async (t) => {
    const { storage } = await aStorage(t);
    const stored = await storage.put('mods/1/file.zip', chunks('hello ', 'world'));
    const hash = (name: string) => createHash(name).update('hello world').digest('hex');
    assert.deepEqual(stored, { bytes: 11, md5: hash('md5'), sha256: hash('sha256') });
    assert.deepEqual(await read(storage, 'mods/1/file.zip'), { bytes: 11, text: 'hello world' });
    assert.deepEqual(await storage.stat('mods/1/file.zip'), { bytes: 11 });
  });

  test(`${name}: a moved object exists only under its new key, and replaces the previous object`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('incoming/1', chunks('new'));
    await storage.put('files/ab/1', chunks('old'));
    const handle = await storage.open('files/ab/1');
    await storage.move('incoming/1', 'files/ab/1');
    assert.deepEqual(await keysOf(storage, ''), ['files/ab/1']);
    assert.equal((await read(storage, 'files/ab/1'))?.text, 'new');
    // A reader that has opened the previous object continues to read it.
    assert.equal((await buffer(handle!.stream)).toString(), 'old');
    await storage.move('files/ab/1', 'elsewhere/2');
    assert.equal((await read(storage, 'elsewhere/2'))?.text, 'new');
  });

  test(`${name}: a missing object cannot be moved, and no key leaves the storage`, async (t) => {
    const { storage } = await aStorage(t);
    await assert.rejects(storage.move('incoming/none', 'files/1'), { code: 'ENOENT' });
    await storage.put('a', chunks('a'));
    await assert.rejects(storage.move('a', '../outside'), /not a storage key/);
    await assert.rejects(storage.move('../outside', 'b'), /not a storage key/);
    assert.deepEqual(await keysOf(storage, ''), ['a']);
  });

  test(`${name}: an empty object can be stored`, async (t) => {
    const { storage } = await aStorage(t);
    assert.equal((await storage.put('empty', new Uint8Array())).bytes, 0);
    assert.deepEqual(await read(storage, 'empty'), { bytes: 0, text: '' });
  });

  test(`${name}: a range returns the bytes between its inclusive ends, up to the end of the object`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('a', Buffer.from('0123456789'));
    assert.deepEqual(await read(storage, 'a', { start: 2, end: 4 }), { bytes: 3, text: '234' });
    assert.deepEqual(await read(storage, 'a', { start: 8, end: 99 }), { bytes: 2, text: '89' });
    await assert.rejects(storage.open('a', { start: 10, end: 12 }), RangeError);
    await assert.rejects(storage.open('a', { start: 3, end: 2 }), RangeError);
  });

  test(`${name}: opening a missing object or a folder returns undefined without an error`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('mods/1', Buffer.from('x'));
    for (const key of ['nothing', 'mods', 'mods/1/below'])
      assert.deepEqual([await storage.open(key), await storage.stat(key)], [undefined, undefined], key);
  });

  test(`${name}: a second put replaces the first as a whole`, async (t) => {
    const { storage, leftovers } = await aStorage(t);
    await storage.put('a', Buffer.from('a long first version'));
    await storage.put('a', Buffer.from('second'));
    assert.equal((await read(storage, 'a'))?.text, 'second');
    assert.equal(await leftovers(), 0);
  });

  test(`${name}: an opened object stays readable while it is replaced and removed`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('a', Buffer.from('first'));
    const opened = await storage.open('a');
    await storage.put('a', Buffer.from('second'));
    await storage.remove('a');
    assert.equal((await buffer(opened!.stream)).toString(), 'first');
  });

  test(`${name}: removing an object twice is no error, and other objects stay`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('a/1', Buffer.from('x'));
    await storage.put('a/2', Buffer.from('x'));
    await storage.remove('a/1');
    await storage.remove('a/1');
    await storage.remove('a');
    assert.deepEqual(await keysOf(storage, ''), ['a/2']);
  });

  test(`${name}: a list contains every key that begins with the prefix`, async (t) => {
    const { storage } = await aStorage(t);
    for (const key of ['mods/1/a', 'mods/1/b/c', 'mods/12', 'mods/2', 'modstead', 'other/1'])
      await storage.put(key, Buffer.from('x'));
    assert.deepEqual(await keysOf(storage, 'mods/1'), ['mods/1/a', 'mods/1/b/c', 'mods/12']);
    assert.deepEqual(await keysOf(storage, 'mods/1/'), ['mods/1/a', 'mods/1/b/c']);
    assert.deepEqual(await keysOf(storage, 'mods'), ['mods/1/a', 'mods/1/b/c', 'mods/12', 'mods/2', 'modstead']);
    assert.equal((await keysOf(storage, '')).length, 6);
    assert.deepEqual(await keysOf(storage, 'nothing/'), []);
  });

  test(`${name}: every method refuses invalid keys`, async (t) => {
    const { storage } = await aStorage(t);
    for (const key of ['../out', '/etc/passwd', 'a/../../out', 'a\0', '']) {
      await assert.rejects(storage.put(key, Buffer.from('x')), /not a storage key/);
      await assert.rejects(storage.open(key), /not a storage key/);
      await assert.rejects(storage.stat(key), /not a storage key/);
      await assert.rejects(storage.remove(key), /not a storage key/);
      if (key !== '') await assert.rejects(keysOf(storage, key), /not a storage key/);
    }
  });

  test(`${name}: a body beyond its limit is refused while it arrives, and leaves no file`, async (t) => {
    const { storage, leftovers } = await aStorage(t);
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
    assert.equal(await leftovers(), 0);
    assert.equal((await storage.put('a', Buffer.alloc(4500), { bytesMax: 4500 })).bytes, 4500);
  });

  test(`${name}: an aborted body leaves only the previous object`, async (t) => {
    const { storage, leftovers } = await aStorage(t);
    await storage.put('a', Buffer.from('earlier'));
    async function* broken() {
      yield Buffer.from('half');
      throw new Error('client gone');
    }
    await assert.rejects(storage.put('a', broken()), /client gone/);
    assert.equal((await read(storage, 'a'))?.text, 'earlier');
    assert.equal(await leftovers(), 0);
  });

  test(`${name}: many concurrent puts are all stored`, async (t) => {
    const { storage } = await aStorage(t);
    const names = Array.from({ length: 50 }, (_, index) => `new/deep/${index}`);
    await Promise.all(names.map((key) => storage.put(key, Buffer.from(key))));
    assert.deepEqual(await keysOf(storage, 'new/'), names.sort());
  });

  test(`${name}: any sequence of chunks is returned byte for byte`, async (t) => {
    const { storage } = await aStorage(t);
    await fc.assert(
      fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 5000 }), { maxLength: 8 }), async (parts) => {
        async function* body() {
          yield* parts;
        }
        const stored = await storage.put('any', body());
        const whole = Buffer.concat(parts);
        assert.equal(stored.bytes, whole.length);
        assert.deepEqual(await buffer((await storage.open('any'))!.stream), whole);
      }),
      { numRuns: 50 },
    );
  });

  test(`${name}: parts in any order become an object, which does not exist before it is complete`, async (t) => {
    const { storage } = await aStorage(t);
    const whole = Buffer.concat([Buffer.alloc(partBytes, 'a'), Buffer.alloc(partBytes, 'b'), Buffer.from('c')]);
    const { assembly, parts } = await anAssembly(storage, whole, partBytes, (all) => all.reverse());
    assert.deepEqual(await keysOf(storage, ''), []);
    const hash = (name: string) => createHash(name).update(whole).digest('hex');
    const stored = { bytes: whole.length, md5: hash('md5'), sha256: hash('sha256') };
    assert.deepEqual(await storage.assemblies.finish(assembly, parts), stored);
    assert.deepEqual(await buffer((await storage.open('uploads/a'))!.stream), whole);
    assert.deepEqual(await storage.assemblies.finish(assembly, parts), stored, 'finishing again');
    await storage.assemblies.discard(assembly);
    await storage.assemblies.discard(assembly);
    assert.deepEqual(await keysOf(storage, ''), []);
  });

  test(`${name}: a part longer than a buffer is stored completely, and an aborted part is not stored`, async (t) => {
    const { storage } = await aStorage(t);
    const assembly = { key: 'uploads/a', handle: await storage.assemblies.begin('uploads/a') };
    const bytes = Buffer.from('0123456789'.repeat(1_200_000));
    async function* pieces() {
      for (let at = 0; at < bytes.length; at += 777_777) yield bytes.subarray(at, at + 777_777);
    }
    const tag = await storage.assemblies.putPart(assembly, { number: 1, start: 0, bytes: bytes.length }, pieces());
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const part = { number: 1, start: 0, bytes: bytes.length, sha256, tag };
    async function* broken() {
      yield bytes.subarray(0, 300_000);
      throw new Error('client gone');
    }
    const second = { number: 2, start: bytes.length, bytes: 400_000 };
    await assert.rejects(storage.assemblies.putPart(assembly, second, broken()), /client gone/);
    assert.equal((await storage.assemblies.finish(assembly, [part])).sha256, sha256);
    assert.deepEqual(await storage.stat('uploads/a'), { bytes: bytes.length });
  });

  test(`${name}: an opened object can be read at any position and hashed`, async (t) => {
    const { storage } = await aStorage(t);
    await storage.put('a', Buffer.from('0123456789'));
    const held = (await storage.read('a'))!;
    const into = Buffer.alloc(4);
    assert.equal(held.bytes, 10);
    assert.deepEqual([await held.readInto(into, 3), into.toString()], [4, '3456']);
    assert.deepEqual([await held.readInto(into, 8), into.toString('utf8', 0, 2)], [2, '89']);
    assert.equal(await held.readInto(into, 10), 0);
    assert.equal(await held.digest(), createHash('sha256').update('0123456789').digest('hex'));
    const { version } = held;
    await held.close();
    await storage.put('a', Buffer.from('9876543210'));
    const again = (await storage.read('a'))!;
    assert.notEqual(again.version, version);
    await again.close();
    assert.equal(await storage.read('nothing'), undefined);
  });

  test(`${name}: another process can continue a multipart upload, and a discarded one leaves no object`, async (t) => {
    const { storage, again } = await aStorage(t);
    const assembly = { key: 'uploads/b', handle: await storage.assemblies.begin('uploads/b') };
    const [part] = partsOf(Buffer.from('all'), partBytes);
    const tag = await again().assemblies.putPart(assembly, part!, chunks('all'));
    const stored = await again().assemblies.finish(assembly, [{ ...part!, tag }]);
    assert.equal(stored.bytes, 3);
    await again().assemblies.discard(assembly);
    assert.equal(await storage.stat('uploads/b'), undefined);
  });

  test(`${name}: of two concurrent starts of an upload one wins, and the other is abandoned without harm`, async (t) => {
    const { storage, leftovers } = await aStorage(t);
    const key = 'uploads/c';
    const [mine, other] = [await storage.assemblies.begin(key), await storage.assemblies.begin(key)];
    const [part] = partsOf(Buffer.from('all'), partBytes);
    const tag = await storage.assemblies.putPart({ key, handle: mine }, part!, chunks('all'));
    await storage.assemblies.abandon({ key, handle: other });
    assert.equal((await storage.assemblies.finish({ key, handle: mine }, [{ ...part!, tag }])).bytes, 3);
    assert.equal(await leftovers(), 0);
  });

  test(`${name}: concurrent requests that finish an upload all get the object, and later parts do not change it`, async (t) => {
    const { storage, again, leftovers } = await aStorage(t);
    const whole = Buffer.concat([Buffer.alloc(partBytes, 'a'), Buffer.from('b')]);
    const { assembly, parts } = await anAssembly(storage, whole, partBytes);
    const processes = [storage, again(), again(), again()];
    const stored = await Promise.all(processes.map(({ assemblies }) => assemblies.finish(assembly, parts)));
    const sha256 = createHash('sha256').update(whole).digest('hex');
    for (const each of stored) assert.equal(each.sha256, sha256);
    const [, last] = parts;
    await assert.rejects(storage.assemblies.putPart(assembly, last!, chunks('x')));
    const late = await storage.assemblies.begin(assembly.key);
    await storage.assemblies.abandon({ key: assembly.key, handle: late });
    assert.equal((await storage.assemblies.finish(assembly, parts)).sha256, sha256);
    assert.deepEqual(await buffer((await storage.open(assembly.key))!.stream), whole);
    assert.equal(await leftovers(), 0);
  });
}
