// Runs alone: it measures the memory of its process.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { crc32, deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { relativeCpuTime } from '../../../test/cpu-time.ts';
import {
  DEFLATED,
  DESCRIPTOR,
  extraField,
  nested,
  STORED,
  u16,
  u32,
  u64,
  type ZipEntry,
  type ZipOptions,
  zipOf,
} from '../../../test/zips.ts';
import { validationMessage } from '../errors/messages.ts';
import { localStorage } from '../storage/local.ts';
import {
  type ArchivePolicy,
  ArchiveProblem,
  type ArchiveReason,
  type ArchiveSource,
  fileSource,
  inspectArchive,
  storedSource,
  toFieldProblem,
  type Visit,
} from './archives.ts';

const run = promisify(execFile);
const isThere = (program: string) =>
  run(program, ['--help']).then(
    () => true,
    (error) => error.code !== 'ENOENT',
  );
/** Runs before the first test, so that the other tests do not wait for it. */
const installed = new Set(
  (
    await Promise.all(['python3', 'unzip', '7z', 'bsdtar'].map(async (name) => ((await isThere(name)) ? [name] : [])))
  ).flat(),
);
const unless = (program: string) => ({ skip: installed.has(program) ? false : `${program} is not installed` });

const folder = mkdtempSync(join(tmpdir(), 'modstead-archives-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const sourceOf = (bytes: Buffer): ArchiveSource => ({
  bytes: bytes.length,
  read: async (position, length) => {
    assert.ok(position >= 0 && length > 0 && position + length <= bytes.length, 'reads within the source alone');
    return bytes.subarray(position, position + length);
  },
});

const inspect = (zip: Buffer, policy?: Partial<ArchivePolicy>, visit?: Visit) =>
  inspectArchive(sourceOf(zip), policy, visit);

const refused = (zip: Buffer, reason: ArchiveReason, policy?: Partial<ArchivePolicy>) =>
  assert.rejects(inspect(zip, policy), (error) => {
    assert.ok(error instanceof ArchiveProblem, String((error as Error).stack));
    assert.equal(error.reason, reason, error.message);
    return true;
  });

const files: ZipEntry[] = [
  { name: 'readme.txt', content: 'Read me.' },
  { name: 'maps/' },
  { name: 'maps/ödland.map', content: 'map '.repeat(50_000), madeBy: 0x0314 },
  { name: 'maps/empty' },
  { name: 'raw.bin', content: Buffer.from([0, 1, 2, 3]), method: STORED },
];

test('an inspection lists every entry of a valid archive with its unpacked size', async () => {
  const found = await inspect(zipOf(files, { comment: 'Made with care.' }));
  assert.deepEqual(
    found.entries.map(({ name, bytes, isFolder }) => [name, bytes, isFolder]),
    [
      ['readme.txt', 8, false],
      ['maps/', 0, true],
      ['maps/ödland.map', 200_000, false],
      ['maps/empty', 0, false],
      ['raw.bin', 4, false],
    ],
  );
  assert.equal(found.bytesUncompressed, 200_012);
  assert.equal(found.entries[2]!.crc32, crc32('map '.repeat(50_000)));
  assert.ok(found.entries[2]!.compressedBytes < 2_000);
});

test('a visitor receives every file unchanged, even if it reads only the beginning', async () => {
  const seen: Record<string, string> = {};
  await inspect(zipOf([...files, { name: 'in.zip', content: zipOf(files) }]), {}, async ({ path, depth }, content) => {
    for await (const chunk of content) {
      seen[path] = `${depth} ${chunk.toString('latin1', 0, 4)}`;
      break;
    }
  });
  assert.equal(seen['maps/ödland.map'], '0 map ');
  assert.equal(seen['in.zip/maps/ödland.map'], '1 map ');
  assert.equal(seen['in.zip'], '0 PK\x03\x04');
});

test('a slow visitor receives long files byte for byte, stored or deflated, from memory and from disk', async () => {
  // Half of the data is incompressible, so that chunks of the archive and of the content end at different offsets.
  const long = (bytes: number) => Buffer.concat([randomBytes(bytes / 2), Buffer.alloc(bytes / 2, 'map ')]);
  const entries = [STORED, DEFLATED].flatMap((method) =>
    [70_000, 900_000, 2_000_000].map((bytes) => ({ name: `${method}-${bytes}`, content: long(bytes), method })),
  );
  const zip = zipOf([...entries, { name: 'in.zip', content: zipOf(entries), method: DEFLATED }]);
  const storage = localStorage(folder);
  await storage.put('long', zip);
  const file = await open(storage.path!('long'));
  for (const source of [sourceOf(zip), await fileSource(file), (await storedSource(storage, 'long'))!]) {
    const seen = new Map<string, string>();
    await inspectArchive(source, {}, async ({ path }, content) => {
      const hash = createHash('sha256');
      for await (const chunk of content) {
        await turn();
        hash.update(chunk);
      }
      seen.set(path, hash.digest('hex'));
    });
    for (const { name, content } of entries)
      for (const path of [name, `in.zip/${name}`])
        assert.equal(seen.get(path), createHash('sha256').update(content).digest('hex'), path);
  }
  await file.close();
});

test('the inspection accepts every kind of data descriptor, zip64, and UTF-8 names without the UTF-8 flag', async () => {
  const content = 'some content that is deflated';
  const packed = deflateRawSync(content);
  const [sum, size] = [crc32(content), packed.length];
  const open = { crc32: 0, bytes: 0, compressedBytes: 0 };
  for (const after of [
    u32(sum, size, content.length),
    u32(0x08074b50, sum, size, content.length),
    Buffer.concat([u32(sum), u64(size, content.length)]),
    Buffer.concat([u32(0x08074b50, sum), u64(size, content.length)]),
  ])
    await inspect(zipOf([{ name: 'a', content, flags: DESCRIPTOR, local: open, after }, ...files]));
  await inspect(zipOf(files, { zip64: true }));
  await inspect(
    zipOf(files, { zip64: true, entries: 0xffff, directoryOffset: 0xffffffff, directoryBytes: 0xffffffff }),
  );
  const long = { bytes: 0xffffffff, compressedBytes: 0xffffffff, packed, crc32: sum };
  await inspect(zipOf([{ name: 'a', ...long, method: DEFLATED, extra: extraField(1, u64(content.length, size)) }]));
  await inspect(zipOf([{ name: 'naïve', content, flags: 0 }]));
});

test('the inspection refuses every form of a name that leads out of the folder', async () => {
  const paths = [
    '../a', 'a/../../b', 'a/..', '/etc/passwd', '//server/share', 'C:\\a', 'c:a', 'C:/a', '\\a', 'a\\..\\b', '..\\a',
    '\\\\server\\share', 'a\0b', 'a/\0', './a', 'a/./b', 'a//b', 'a.txt:stream', 'a:', '..', '.', '/', '',
  ]; // biome-ignore format: a list
  for (const name of paths) await refused(zipOf([{ name, content: 'x' }]), 'path');
});

test('the inspection refuses a name that some operating system does not allow', async () => {
  const names = [
    'a.', 'a ', 'dir./a', 'dir /a', '...', 'CON', 'con.txt', 'a/NUL', 'Aux.tar.gz', 'COM1', 'lpt9.x', 'com¹', 'CONIN$',
    'nul .txt', 'a\r\nb', 'a\tb', 'a\u202egnp.exe', 'a\u2066b', 'a\u0085b', 'what?', 'a*', '"quoted"', 'a<b', 'a|b',
    'x'.repeat(256),
  ]; // biome-ignore format: a list
  for (const name of names) await refused(zipOf([{ name, content: 'x' }]), 'name');
  await refused(zipOf([{ name: `${'abc/'.repeat(300)}x`, content: 'x' }]), 'name_length');
  await refused(zipOf([{ name: Buffer.from([0x41, 0x95, 0xe9]), content: 'x' }]), 'name_encoding');
  for (const name of ['.hidden', 'a..b', ' a', 'common.txt', 'console', 'com10', 'été', '名前.txt', '👩‍🚀.png'])
    await inspect(zipOf([{ name, content: 'x' }]));
});

test('the inspection refuses names that collide on some file system', async () => {
  const pairs = [
    ['a', 'a'],
    ['Readme.txt', 'README.TXT'],
    ['é', 'e\u0301'],
    ['straße', 'STRASSE'],
    ['a', 'a/'],
    ['a', 'a/b'],
    ['a/b', 'a'],
    ['a/b', 'A'],
    ['Data/x', 'data/y'],
    ['a/', 'a/'],
  ];
  for (const names of pairs) await refused(zipOf(names.map((name) => ({ name }))), 'duplicate');
  await inspect(zipOf([{ name: 'a/b' }, { name: 'a/' }, { name: 'a/c' }]));
});

test('class files of a Java archive may differ by case only, because nobody unpacks them', async () => {
  const program = zipOf([{ name: 'a.class' }, { name: 'A.class' }]);
  await inspect(zipOf([{ name: 'mod.jar', content: program }]));
  await refused(zipOf([{ name: 'mod.jar', content: zipOf([{ name: 'a' }, { name: 'a' }]) }]), 'duplicate');
  await refused(zipOf([{ name: 'in.zip', content: zipOf([{ name: '../a' }]) }]), 'path');
});

test('the inspection refuses links, devices and other special files', async () => {
  const unix = (mode: number) => (mode << 16) >>> 0;
  for (const mode of [0o120777, 0o020666, 0o060660, 0o010644, 0o140777])
    for (const madeBy of [0x0314, 20])
      await refused(zipOf([{ name: 'a', content: '/etc/passwd', madeBy, attributes: unix(mode) }]), 'link');
  await refused(zipOf([{ name: 'a', content: 'x', attributes: 0x400 }]), 'link');
  await refused(zipOf([{ name: 'a', content: 'x', attributes: 0x08 }]), 'link');
  const hardLink = extraField(0x000d, Buffer.concat([Buffer.alloc(12), Buffer.from('/etc/passwd')]));
  await refused(zipOf([{ name: 'a', content: 'x', extra: hardLink }]), 'link');
  const asi = extraField(0x756e, Buffer.concat([Buffer.alloc(6), u32(3), Buffer.alloc(4), Buffer.from('a/b')]));
  await refused(zipOf([{ name: 'a', content: 'x', localExtra: asi, extra: Buffer.alloc(0) }]), 'link');
  await refused(zipOf([{ name: 'a', content: 'x', attributes: 0x10 }]), 'mismatch');
  await refused(zipOf([{ name: 'a/', attributes: unix(0o100644) }]), 'mismatch');
  await refused(zipOf([{ name: 'a/', content: 'x' }]), 'mismatch');
  await inspect(zipOf([{ name: 'a', content: 'x', madeBy: 0x0314, attributes: unix(0o100755) }]));
});

test('the inspection refuses encrypted files and compression methods other than deflate', async () => {
  for (const flags of [0x1, 0x40, 0x2000]) await refused(zipOf([{ name: 'a', content: 'x', flags }]), 'encrypted');
  await refused(zipOf([{ name: 'a', content: 'x', method: 99 }]), 'encrypted');
  await refused(zipOf([{ name: 'a', content: 'x', extra: extraField(0x9901, Buffer.alloc(7)) }]), 'encrypted');
  for (const method of [1, 6, 9, 12, 14, 93, 95, 98, 500])
    await refused(zipOf([{ name: 'a', content: 'x', method }]), 'method');
  await refused(zipOf([{ name: 'a', content: 'x', flags: 0x20 }]), 'method');
  await refused(zipOf([{ name: 'a', content: 'x', version: 251 }]), 'method');
});

test('the inspection refuses a local header that contradicts the directory', async () => {
  const a = { name: 'a', content: 'content' };
  for (const local of [
    { name: 'b' },
    { method: STORED },
    { flags: 0x800 },
    { bytes: 8 },
    { compressedBytes: 8 },
    { crc32: 1 },
  ])
    await refused(zipOf([{ ...a, local }]), 'mismatch');
  const unicode = (name: string, of: string) =>
    extraField(0x7075, Buffer.concat([Buffer.from([1]), u32(crc32(of)), Buffer.from(name)]));
  await refused(zipOf([{ ...a, extra: unicode('../b', 'a') }]), 'mismatch');
  await refused(zipOf([{ ...a, extra: Buffer.alloc(0), localExtra: unicode('b', 'a') }]), 'mismatch');
  await inspect(zipOf([{ ...a, extra: unicode('a', 'a') }]));
  const open = { crc32: 0, bytes: 0, compressedBytes: 0 };
  const lie = u32(0x08074b50, crc32('content'), 9, 8);
  await refused(zipOf([{ ...a, flags: DESCRIPTOR, local: open, after: lie }]), 'mismatch');
  await refused(zipOf([{ ...a, flags: DESCRIPTOR, local: open }]), 'hidden_data');
  await refused(zipOf([{ ...a, local: open }]), 'mismatch');
});

test('the inspection refuses data that belongs to no entry: before, between and after entries, and comments that imitate an end record', async () => {
  const a: ZipEntry[] = [{ name: 'a', content: 'content' }];
  const junk = Buffer.from('#!/bin/sh\n');
  const honest = zipOf(a);
  await refused(zipOf(a, { prefix: junk }), 'hidden_data');
  await refused(
    zipOf(
      a.map((entry) => ({ ...entry, offset: junk.length })),
      { prefix: junk, directoryOffset: junk.length + honest.length - 22 - 47 },
    ),
    'hidden_data',
  );
  await refused(zipOf([{ ...a[0]!, after: junk }, { name: 'b' }]), 'hidden_data');
  await refused(zipOf(a, { beforeDirectory: junk }), 'hidden_data');
  await refused(zipOf(a, { suffix: junk }), 'hidden_data');
  await refused(Buffer.concat([honest, honest]), 'hidden_data');
  await refused(zipOf(a, { comment: zipOf([{ name: 'b' }]) }), 'hidden_data');
  await refused(zipOf(a, { comment: 'PK\x05\x06'.padEnd(60, '\0') }), 'hidden_data');
  await refused(zipOf([{ name: 'a', content: 'x', packed: Buffer.concat([deflateRawSync('x'), junk]) }]), 'content');
  await refused(
    zipOf([
      { name: 'a', content: 'y'.repeat(99_999), packed: Buffer.concat([deflateRawSync('y'.repeat(99_999)), junk]) },
    ]),
    'content',
  );
});

test('the inspection refuses wrong end records and wrong zip64 records', async () => {
  const lies: [ZipOptions, ArchiveReason][] = [
    [{ entries: 4 }, 'damaged'],
    [{ entries: 6 }, 'damaged'],
    [{ entries: 65_000 }, 'damaged'],
    [{ directoryOffset: 0xfffffff0 }, 'damaged'],
    [{ directoryBytes: 1 }, 'hidden_data'],
    [{ zip64: { entries: 4n } }, 'damaged'],
    [{ zip64: { offset: 0n } }, 'damaged'],
    [{ zip64: { offset: 2n ** 63n }, directoryOffset: 0xffffffff }, 'damaged'],
    [{ zip64: { entries: 2n ** 40n }, entries: 0xffff }, 'damaged'],
    [{ zip64: { recordAt: 0n } }, 'hidden_data'],
    [{ zip64: { size: 99n } }, 'damaged'],
  ];
  for (const [options, reason] of lies) await refused(zipOf(files, options), reason);
  const a = { name: 'a', content: 'content' };
  await refused(zipOf([{ ...a, extra: extraField(1, u64(2n ** 40n, 2n ** 40n)) }]), 'mismatch');
  await refused(zipOf([{ ...a, bytes: 0xffffffff }]), 'mismatch');
  const twice = Buffer.concat([extraField(1, u64(7)), extraField(1, u64(8))]);
  await refused(zipOf([{ ...a, bytes: 0xffffffff, extra: twice }]), 'mismatch');
  await refused(zipOf([{ ...a, extra: u16(9, 500) }]), 'damaged');
});

test('the inspection refuses a size or checksum that does not match the content', async () => {
  for (const size of [1, 1_000_000]) {
    const content = Buffer.alloc(size, 'abcd');
    await refused(zipOf([{ name: 'a', content, bytes: size + 1 }]), 'content');
    await refused(zipOf([{ name: 'a', content, bytes: size - 1 }]), 'content');
    await refused(zipOf([{ name: 'a', content, crc32: 1 }]), 'content');
    await refused(zipOf([{ name: 'a', content, method: STORED, crc32: 1 }]), 'content');
    await refused(zipOf([{ name: 'a', content, packed: deflateRawSync(content).subarray(0, -1) }]), 'content');
    await refused(zipOf([{ name: 'a', content, packed: Buffer.alloc(9_999, 0xff) }]), 'content');
  }
  await refused(zipOf([{ name: 'a', content: 'abc', method: STORED, bytes: 2 }]), 'mismatch');
});

test('other files, empty archives and truncated archives have different reasons', async () => {
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('PK'),
    Buffer.from('Rar!\x1a\x07\x00 and more of it'),
    Buffer.alloc(999),
  ])
    await refused(bytes, 'type');
  await refused(zipOf([]), 'empty');
  await refused(zipOf([{ name: 'a/' }]), 'empty');
  await refused(zipOf(files).subarray(0, -30), 'damaged');
});

test('comments of archives and entries have a maximum length', async () => {
  await refused(zipOf(files, { comment: 'x'.repeat(5_000) }), 'comment');
  await refused(zipOf([{ name: 'a', comment: 'x'.repeat(5_000) }]), 'comment');
});

/** Fails if the work exceeds the maximum cost of any hostile archive. */
async function cheaply(work: () => Promise<unknown>): Promise<void> {
  const before = process.cpuUsage();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  await work();
  clearInterval(watch);
  const { user, system } = process.cpuUsage(before);
  assert.ok(user + system < 2_000_000 * relativeCpuTime(), `${(user + system) / 1e6} s of the processor`);
  assert.ok(peak < 300 * 1024 ** 2, `${peak} bytes`);
}

/**
 * One compressed kernel that many entries share, each of which quotes the local headers that follow (Fifield, 2019).
 */
function overlapping(count: number): Buffer {
  const kernel = deflateRawSync(Buffer.alloc(10_000_000));
  const entry = (index: number): ZipEntry => ({
    name: `f${index}`,
    packed: kernel,
    method: DEFLATED,
    bytes: 10_000_000,
  });
  return zipOf([
    entry(0),
    ...Array.from({ length: count }, (_, index) => ({
      ...entry(index + 1),
      packed: Buffer.alloc(0),
      compressedBytes: kernel.length,
      offset: 0,
    })),
  ]);
}

test('the inspection refuses zip bombs of every kind at little cost', async () => {
  const zeros = Buffer.alloc(8_000_000);
  const layer = zipOf(Array.from({ length: 10 }, (_, index) => ({ name: `${index}.bin`, content: zeros })));
  const matryoshka = zipOf(Array.from({ length: 16 }, (_, index) => ({ name: `${index}.zip`, content: layer })));
  const declared = { name: 'a', bytes: 0xfffffffe, packed: deflateRawSync(zeros), method: DEFLATED };
  const endless = Buffer.concat([deflateRawSync(zeros, { finishFlush: 2 })]);
  const secret = { name: 'a', bytes: 100, packed: Buffer.concat(Array(200).fill(endless)), method: DEFLATED };
  const bombs: [Buffer, ArchiveReason][] = [
    [layer, 'ratio'],
    [matryoshka, 'ratio'],
    [overlapping(5), 'overlap'],
    [overlapping(100), 'ratio'],
    [zipOf([declared]), 'content'],
    [zipOf([secret]), 'content'],
    [zipOf([{ ...secret, bytes: 1_000_000 }]), 'content'],
    [nested('a', 'x', 4), 'nesting'],
    [nested('a', 'x', 40, STORED), 'nesting'],
  ];
  for (const [bomb, reason] of bombs) await cheaply(() => refused(bomb, reason));
  await inspect(nested('a', 'x', 3));
});

test('the inspection refuses too many entries by their count, before it reads them', async () => {
  await refused(zipOf([], { entries: 0xffff, zip64: { entries: 10_000_000n } }), 'damaged');
  const many = Array.from({ length: 11 }, (_, index) => ({ name: `${index}`, content: 'x' }));
  await refused(zipOf(many), 'entries', { entriesMax: 10 });
  await refused(zipOf([{ name: 'a/b/c/d/e' }]), 'entries', { entriesMax: 4 });
  await inspect(zipOf([{ name: 'a/b/c/d/e', content: 'x' }]), { entriesMax: 5 });
  const within = zipOf(many.slice(0, 6));
  await refused(
    zipOf([
      { name: '1.zip', content: within },
      { name: '2.zip', content: within },
    ]),
    'entries',
    { entriesMax: 10 },
  );
});

test('tens of thousands of small files do not block the event loop', async () => {
  const content = 'a small file';
  const packed = deflateRawSync(content);
  const entries = Array.from({ length: 20_000 }, (_, i) => ({ name: `folder-${i % 100}/file-${i}`, content, packed }));
  const zip = zipOf(entries, { zip64: true, entries: 20_000 });
  let turns = 0;
  const watch = setInterval(() => {
    turns += 1;
  }, 1);
  await cheaply(async () => assert.equal((await inspect(zip)).entries.length, 20_000));
  clearInterval(watch);
  assert.ok(turns > 5, `others had ${turns} turns`);
});

test('the total unpacked size has one limit over all nesting levels', async () => {
  const content = Buffer.alloc(20_000, 'abc');
  await refused(zipOf([{ name: 'a', content }]), 'bytes', { bytesUncompressedMax: 19_999 });
  await inspect(zipOf([{ name: 'a', content }]), { bytesUncompressedMax: 20_000 });
  await refused(nested('a', content, 1), 'bytes', { bytesUncompressedMax: 20_000 });
});

test('the inspection refuses or reports extensions at every nesting level', async () => {
  const zip = zipOf([
    { name: 'in.zip', content: zipOf([{ name: 'b/Setup.EXE', content: 'MZ' }]) },
    { name: 'a.lua', content: 'x' },
  ]);
  await refused(zip, 'extension', { extensionsRefused: new Set(['exe']) });
  const { reported, executables } = await inspect(zip, { extensionsReported: new Set(['exe', 'lua']) });
  assert.deepEqual(reported, ['in.zip/b/Setup.EXE', 'a.lua']);
  assert.deepEqual(executables, ['in.zip/b/Setup.EXE']);
});

test('the inspection recognises programs by their first bytes, whatever their names', async () => {
  const contents: Record<string, string | Buffer> = {
    'picture.png': Buffer.from('MZ\x90\0'),
    'libmod.data': Buffer.from('\x7fELF\x02\x01\x01\0\0'),
    mac: Buffer.from('cffaedfe07000001', 'hex'),
    fat: Buffer.from('cafebabe00000002', 'hex'),
    'Main.class': Buffer.from('cafebabe00000034', 'hex'),
    'run.bat': '@echo off',
    'a.txt': 'text',
  };
  const entries = Object.entries(contents).map(([name, content]) => ({ name, content }));
  const { executables } = await inspect(zipOf(entries));
  assert.deepEqual(executables, ['picture.png', 'libmod.data', 'mac', 'fat', 'run.bat']);
});

test('a file that only begins like an archive counts as an ordinary file', async () => {
  await inspect(
    zipOf([
      { name: 'a', content: 'PK\x03\x04 and then no archive' },
      { name: 'b', content: zipOf([]) },
    ]),
  );
});

test('the inspection finds a stored or deflated archive in an archive, and names its problem by the full path', async () => {
  for (const method of [STORED, DEFLATED]) {
    const zip = nested('../evil', 'x', 2, method);
    await assert.rejects(inspect(zip), { reason: 'path', entry: 'level-1.zip/level-2.zip/../evil' });
  }
});

test('the inspection of a local file and of a stored object has the same result', async () => {
  const zip = zipOf([...files, { name: 'in.zip', content: zipOf(files) }]);
  writeFileSync(join(folder, 'a.zip'), zip);
  await using handle = await open(join(folder, 'a.zip'));
  const storage = localStorage(join(folder, 'storage'));
  await storage.put('modfiles/a', zip);
  const expected = await inspect(zip);
  assert.deepEqual(await inspectArchive(await fileSource(handle)), expected);
  assert.deepEqual(await inspectArchive((await storedSource(storage, 'modfiles/a'))!), expected);
  assert.equal(await storedSource(storage, 'modfiles/b'), undefined);
});

test('sequential reads of a stored file fetch few ranges, and other reads fetch what they request', async () => {
  const content = Buffer.from(Array.from({ length: 9_000_000 }, (_, index) => index % 251));
  const ranges: { start: number; end: number }[] = [];
  const storage = {
    read: async () => ({
      bytes: content.length,
      readInto: async (buffer: Buffer, start: number) => {
        ranges.push({ start, end: start + buffer.length - 1 });
        return content.copy(buffer, 0, start);
      },
    }),
  } as unknown as Parameters<typeof storedSource>[0];
  const source = (await storedSource(storage, 'a'))!;
  const reads = async (position: number, length: number) =>
    assert.ok(
      (await source.read(position, length)).equals(content.subarray(position, position + length)),
      `${position}`,
    );
  await reads(8_999_000, 1_000);
  assert.deepEqual(ranges.splice(0), [{ start: 8_999_000, end: 8_999_999 }]);
  for (let position = 0; position < content.length; position += 100_000) await reads(position, 100_000);
  assert.ok(ranges.splice(0).length <= 4, 'the first, and one for every 4 MiB');
  for (const position of [5_000_000, 5_000_010, 100]) await reads(position, 10);
  await reads(5_000_000, 20);
  await reads(5_000_005, 10);
  assert.deepEqual(ranges.length, 4, 'only what is held is not fetched again');
});

test('a storage failure is not reported as a problem of the archive', async () => {
  const zip = zipOf([
    { name: 'a', content: Buffer.alloc(1_000_000, 'abcdefg'), method: STORED },
    { name: 'b', content: Buffer.alloc(999_999, 'xyz') },
  ]);
  for (let reads = 0; reads < 5; reads += 1) {
    let left = reads;
    const read = async (position: number, length: number) => {
      if (left-- === 0) throw new Error('the disk is gone');
      return zip.subarray(position, position + length);
    };
    await assert.rejects(inspectArchive({ bytes: zip.length, read }), /the disk is gone/);
  }
});

test('a large file is read in chunks and never as a whole', async () => {
  const block = Buffer.alloc(1024 ** 2, 'incompressible? no, but stored');
  const bytes = 400 * block.length;
  let sum = 0;
  for (let index = 0; index < 400; index += 1) sum = crc32(block, sum);
  const shell = zipOf([{ name: 'big', method: STORED, crc32: sum, bytes, compressedBytes: bytes }]);
  const headBytes = 33;
  // The middle is generated while it is read.
  const read = async (position: number, length: number) => {
    assert.ok(length <= 1024 ** 2);
    const buffer = Buffer.alloc(length);
    for (let at = 0; at < length; ) {
      const where = position + at;
      const inBlock = where >= headBytes && where < headBytes + bytes;
      const from = inBlock ? (where - headBytes) % block.length : where < headBytes ? where : where - bytes;
      const end = inBlock
        ? Math.min(block.length, from + headBytes + bytes - where)
        : where < headBytes
          ? headBytes
          : shell.length;
      at += (inBlock ? block : shell).copy(buffer, at, from, end);
    }
    return buffer;
  };
  const end = shell.subarray(-22);
  end.writeUInt32LE(headBytes + bytes, 16);
  const before = process.memoryUsage.rss();
  const { bytesUncompressed } = await inspectArchive({ bytes: shell.length + bytes, read });
  assert.equal(bytesUncompressed, bytes);
  assert.ok(process.memoryUsage.rss() - before < 150 * 1024 ** 2);
});

test('the author gets a message without control characters that names the problem', async () => {
  const problem = await inspect(zipOf([{ name: 'a\u202egnp.exe', content: 'x' }])).catch(
    (error) => error as ArchiveProblem,
  );
  const { field, rule, values } = toFieldProblem('filedata', problem as ArchiveProblem);
  assert.equal(
    validationMessage(rule, 'en', { field, ...values }),
    'The filedata has the name “a\ufffdgnp.exe”, which is not allowed on every system.',
  );
  assert.equal(
    toFieldProblem('f', new ArchiveProblem('path', { entry: '../'.repeat(999) })).values!['entry'],
    `${'../'.repeat(40)}…`,
  );
});

test('the inspection accepts or refuses any mutated archive quickly', async () => {
  const seed = zipOf([...files, { name: 'in.zip', content: zipOf(files.slice(0, 2)) }], { zip64: true, comment: 'c' });
  const change = fc.record({ at: fc.nat(seed.length - 1), length: fc.nat(4), bytes: fc.uint8Array({ maxLength: 8 }) });
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      let zip = seed;
      for (const { at, length, bytes } of changes)
        zip = Buffer.concat([zip.subarray(0, at), bytes, zip.subarray(at + length)]);
      await inspect(zip).catch((error) => assert.ok(error instanceof ArchiveProblem, error.stack));
    }),
    { numRuns: 1_500, interruptAfterTimeLimit: 30_000, markInterruptAsFailure: true },
  );
});

test('the inspection accepts or refuses any combination of records quickly', async () => {
  const word = fc.oneof(fc.constantFrom(0, 1, 0xffff, 0xfffffffe, 0xffffffff), fc.nat(200));
  const entry = fc.record(
    {
      name: fc.oneof(fc.constantFrom('a', 'A', 'a/', '../a', 'b/c'), fc.string({ unit: 'binary', maxLength: 6 })),
      content: fc.uint8Array({ maxLength: 200 }),
      method: fc.constantFrom(STORED, DEFLATED, 9),
      flags: fc.constantFrom(0, DESCRIPTOR, 1, 0x800),
      attributes: word,
      extra: fc.uint8Array({ maxLength: 24 }),
      crc32: word,
      bytes: word,
      compressedBytes: word,
      offset: word,
      after: fc.uint8Array({ maxLength: 24 }),
    },
    { requiredKeys: ['name', 'content'] },
  );
  const options = fc.record(
    {
      entries: fc.nat(0xffff),
      directoryOffset: word,
      directoryBytes: word,
      zip64: fc.boolean(),
      prefix: fc.uint8Array({ maxLength: 9 }),
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(entry, { maxLength: 5 }), options, async (entries, chosen) => {
      const zip = zipOf(entries, chosen);
      await inspect(zip).catch((error) => assert.ok(error instanceof ArchiveProblem, error.stack));
    }),
    { numRuns: 600, interruptAfterTimeLimit: 30_000, markInterruptAsFailure: true },
  );
});

/** The names and content checksums that another reader unpacks; undefined if it reports an error. */
type Listing = Record<string, string> | undefined;

const PYTHON = `
import sys, zipfile, zlib, json
with zipfile.ZipFile(sys.argv[1]) as z:
    print(json.dumps({(i.filename if i.flag_bits & 0x800 else i.filename.encode('cp437').decode('utf-8')):
        '%08x' % zlib.crc32(z.read(i)) for i in z.infolist() if not i.is_dir()}))`;

const readers: Record<string, (file: string, names: readonly string[]) => Promise<Listing>> = {
  python3: async (file) => JSON.parse((await run('python3', ['-c', PYTHON, file])).stdout),
  unzip: (file, names) => extracted(names, (name) => ['unzip', ['-p', file, name.replace(/[[\]*?]/g, '\\$&')]]),
  '7z': (file, names) => extracted(names, (name) => ['7z', ['x', '-so', '-bd', '-spd', file, name]]),
  bsdtar: (file, names) => extracted(names, (name) => ['bsdtar', ['-xOf', file, name.replace(/[[\]*?]/g, '\\$&')]]),
};

async function extracted(names: readonly string[], of: (name: string) => [string, string[]]): Promise<Listing> {
  const options = {
    encoding: 'buffer' as const,
    maxBuffer: 64 * 1024 ** 2,
    env: { ...process.env, LC_ALL: 'C.UTF-8' },
  };
  const listing: Record<string, string> = {};
  for (const name of names) {
    const { stdout } = await run(...of(name), options);
    listing[name] = crc32(stdout).toString(16).padStart(8, '0');
  }
  return listing;
}

const taken: Record<string, Buffer> = {
  plain: zipOf(files),
  zip64: zipOf(files, { zip64: true, entries: 0xffff, directoryOffset: 0xffffffff }),
  descriptor: zipOf([
    {
      name: 'a',
      content: 'content',
      flags: DESCRIPTOR,
      local: { crc32: 0, bytes: 0, compressedBytes: 0 },
      after: u32(0x08074b50, crc32('content'), deflateRawSync('content').length, 7),
    },
    { name: 'b', content: 'more' },
  ]),
  commented: zipOf(files, { comment: 'a comment' }),
  nested: nested('a.txt', 'deep', 3),
  reordered: zipOf(files.toReversed()),
};

for (const [program, read] of Object.entries(readers)) {
  test(`${program} unpacks from every accepted archive what the inspection found`, unless(program), async () => {
    for (const [name, zip] of Object.entries(taken)) {
      const file = join(folder, `${name}.zip`);
      writeFileSync(file, zip);
      const { entries } = await inspect(zip);
      const found = entries.filter(({ isFolder }) => !isFolder);
      const expected = Object.fromEntries(
        found.map((entry) => [entry.name, entry.crc32.toString(16).padStart(8, '0')]),
      );
      assert.deepEqual(await read(file, Object.keys(expected)), expected, name);
    }
  });
}

test('the inspection accepts no mutated archive that Python reads differently', unless('python3'), async () => {
  const seed = zipOf(files);
  const changed = fc.sample(fc.record({ at: fc.nat(seed.length - 1), byte: fc.nat(255) }), { numRuns: 800, seed: 7 });
  const survivors: Record<string, Record<string, string>> = {};
  for (const { at, byte } of changed) {
    const zip = Buffer.from(seed);
    zip[at] = byte;
    const found = await inspect(zip).catch(() => undefined);
    if (!found || zip.equals(seed)) continue;
    const file = join(folder, `changed-${at}-${byte}.zip`);
    writeFileSync(file, zip);
    const kept = found.entries.filter(({ isFolder }) => !isFolder);
    survivors[file] = Object.fromEntries(kept.map((entry) => [entry.name, entry.crc32.toString(16).padStart(8, '0')]));
  }
  const all = `
import sys, json
def listing(name):
    import zipfile, zlib
    with zipfile.ZipFile(name) as z:
        return {(i.filename if i.flag_bits & 0x800 else i.filename.encode('cp437').decode('utf-8')):
            '%08x' % zlib.crc32(z.read(i)) for i in z.infolist() if not i.is_dir()}
print(json.dumps({name: listing(name) for name in json.load(open(sys.argv[1]))}))`;
  writeFileSync(join(folder, 'survivors.json'), JSON.stringify(Object.keys(survivors)));
  const { stdout } = await run('python3', ['-c', all, join(folder, 'survivors.json')], { maxBuffer: 64 * 1024 ** 2 });
  assert.deepEqual(JSON.parse(stdout), survivors);
});
