import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after } from 'node:test';
import { type ClamdBehaviour, startClamdStub } from '../../../test/clamd.ts';
import { EICAR, nested, STORED, type ZipEntry, zipOf } from '../../../test/zips.ts';
import { scannerCheck } from '../../commands/checks/scanner.ts';
import { readSettings } from '../config/settings.ts';
import { toClamdAddress } from './address.ts';
import { clamdAt, isScanPassed, ScannerUnavailable, scanArchive, VIRUS_POSITIVE, VIRUS_STATUS } from './scanning.ts';

const folder = mkdtempSync(join(tmpdir(), 'modstead-scanning-'));
after(() => rmSync(folder, { recursive: true, force: true }));

const sourceOf = (bytes: Buffer) => ({
  bytes: bytes.length,
  read: async (position: number, length: number) => bytes.subarray(position, position + length),
});

const limits = { fileBytesMax: 1_000_000 };
const PATIENCE = { patienceMs: 5_000 };

const scan = (zip: Buffer, address: string, patienceMs = 5_000) =>
  scanArchive(sourceOf(zip), clamdAt(address, { patienceMs }), limits);

const harmless: ZipEntry[] = [
  { name: 'readme.txt', content: 'Read me.' },
  { name: 'maps/' },
  { name: 'maps/a.map', content: 'map '.repeat(100_000) },
  { name: 'empty' },
];

for (const over of ['unix', 'tcp'] as const)
  test(`the scanner pings clamd over ${over}, asks for its version, and sends each file separately`, async (t) => {
    const { address, streams } = await startClamdStub(t, {}, over);
    await clamdAt(address, PATIENCE).ping();
    assert.match(await clamdAt(address, PATIENCE).version(), /^ClamAV 1/);
    const found = await scan(zipOf([...harmless, { name: 'in.zip', content: zipOf(harmless) }]), address);
    assert.deepEqual(found, {
      status: VIRUS_STATUS.SCANNED,
      positive: VIRUS_POSITIVE.NONE,
      threats: [],
      doubtful: [],
      unscanned: [],
      again: false,
    });
    const [readme, map, inner, readmeAgain, mapAgain] = streams.map((sent) => sent.toString('latin1'));
    assert.deepEqual([readme, map], ['Read me.', 'map '.repeat(100_000)]);
    assert.deepEqual([readmeAgain, mapAgain, inner?.slice(0, 2)], [readme, map, 'PK']);
  });

test('the scanner finds a threat at every nesting level that an archive may have, and names its path', async (t) => {
  const { address } = await startClamdStub(t);
  for (const method of [STORED, 8])
    for (let depth = 0; depth <= 3; depth += 1) {
      const { status, positive, threats } = await scan(nested('eicar.com', EICAR, depth, method), address);
      assert.deepEqual([status, positive], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.THREAT]);
      const folders = Array.from({ length: depth }, (_, index) => `level-${index + 1}.zip/`).join('');
      assert.deepEqual(threats.at(-1), { path: `${folders}eicar.com`, signature: 'Eicar-Signature' });
    }
});

test('a threat counts even if another file could not be scanned', async (t) => {
  const { address } = await startClamdStub(t);
  const large = { name: 'large', content: Buffer.alloc(2_000_000), method: STORED };
  const { status, positive, unscanned } = await scan(zipOf([large, { name: 'e', content: EICAR }]), address);
  assert.deepEqual([status, positive, unscanned.length], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.THREAT, 1]);
});

test('programs, and files that clamd calls unwanted, are potentially harmful', async (t) => {
  const { address } = await startClamdStub(t);
  const program = zipOf([{ name: 'a.png', content: 'MZ program' }]);
  const found = await scan(program, address);
  assert.deepEqual([found.status, found.positive], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.POTENTIALLY_HARMFUL]);
  const other = await startClamdStub(t, { answer: 'stream: PUA.Win.Tool.Packed FOUND\0' });
  const unwanted = await scan(zipOf(harmless), other.address);
  assert.deepEqual([unwanted.status, unwanted.positive], [1, VIRUS_POSITIVE.POTENTIALLY_HARMFUL]);
  assert.deepEqual(unwanted.threats, []);
});

test('a file that is too large for the service or for clamd is never clean', async (t) => {
  const { address, streams } = await startClamdStub(t);
  const large = zipOf([{ name: 'large', content: Buffer.alloc(1_000_001), method: STORED }]);
  const found = await scan(large, address);
  assert.deepEqual([found.status, found.positive, found.again], [VIRUS_STATUS.FILE_TOO_LARGE, 0, false]);
  assert.equal(streams.length, 0);
  for (const manner of [
    { streamBytesMax: 1_000 },
    { answer: 'stream: Heuristics.Limits.Exceeded.MaxFileSize FOUND\0' },
  ]) {
    const other = await startClamdStub(t, manner);
    assert.equal((await scan(zipOf(harmless), other.address)).status, VIRUS_STATUS.FILE_TOO_LARGE);
  }
});

test('unknown replies and failure replies of clamd are never clean', async (t) => {
  const answers = [
    "stream: Can't allocate memory ERROR\0",
    'stream: Heuristics.Encrypted.Zip FOUND\0',
    'UNKNOWN COMMAND\0',
    'stream: OK but not quite\0',
    'OK\0',
    '\0',
    '<html>OK</html>\0',
  ];
  for (const answer of answers) {
    const { address } = await startClamdStub(t, { answer });
    const { status, positive, again } = await scan(zipOf(harmless), address);
    assert.deepEqual([status, positive, again], [VIRUS_STATUS.SCAN_ERROR, 0, false], answer);
  }
});

test('a scanner that is unreachable, silent, disconnects or sends half a reply is tried again later', async (t) => {
  const manners: ClamdBehaviour[] = [
    { silent: true },
    { hangsUp: true },
    { answer: 'stream: OK' },
    { answer: 'stre' },
    { answer: '' },
    { answer: 'x'.repeat(9_999) },
  ];
  for (const manner of manners) {
    const { address } = await startClamdStub(t, manner);
    const { status, positive, again } = await scan(zipOf(harmless), address, 200);
    assert.deepEqual([status, positive, again], [VIRUS_STATUS.SCAN_ERROR, 0, true], JSON.stringify(manner));
    await assert.rejects(clamdAt(address, { patienceMs: 200 }).ping(), ScannerUnavailable);
  }
  for (const address of [`unix:${folder}/nobody`, 'tcp://127.0.0.1:1'])
    assert.equal((await scan(zipOf(harmless), address)).again, true);
});

test('a clamd that reads nothing does not block a scan forever', async (t) => {
  const server = createServer((socket) => socket.pause().on('error', () => {}));
  const path = join(folder, 'deaf');
  await new Promise<void>((resolve) => server.listen(path, resolve));
  t.after(() => server.close());
  const large = zipOf([{ name: 'a', content: Buffer.alloc(999_999, 'abc'), method: STORED }]);
  assert.equal((await scan(large, `unix:${path}`, 200)).again, true);
});

test('a file that cannot be opened was not scanned: encrypted, damaged, missing', async (t) => {
  const { address } = await startClamdStub(t);
  const secret = zipOf([{ name: 'a', content: 'x', flags: 1 }]);
  for (const zip of [
    secret,
    zipOf([{ name: 'in.zip', content: secret }]),
    zipOf(harmless).subarray(0, -9),
    Buffer.from('x'),
  ]) {
    const { status, positive, unscanned } = await scan(zip, address);
    assert.deepEqual([status, positive, unscanned.length], [VIRUS_STATUS.SCAN_ERROR, 0, 1]);
  }
  const gone = await scanArchive(undefined, clamdAt(address, PATIENCE), limits);
  assert.equal(gone.status, VIRUS_STATUS.FILE_NOT_FOUND);
  const broken = { bytes: 99, read: () => Promise.reject(new Error('the disk is gone')) };
  await assert.rejects(scanArchive(broken, clamdAt(address, PATIENCE), limits), /the disk is gone/);
});

test('a scanned file passes; an unscanned file passes only without a scanner or if the setting allows it', () => {
  const strict = { clamd: 'unix:/x', downloadUnscanned: 'off' } as const;
  const passes = (virus_status: number, virus_positive: number, settings: Parameters<typeof isScanPassed>[1]) =>
    isScanPassed({ virus_status, virus_positive }, settings);
  assert.equal(passes(VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.NONE, strict), true);
  assert.equal(passes(VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.POTENTIALLY_HARMFUL, strict), true);
  for (const status of [0, 2, 3, 4, 5]) {
    assert.equal(passes(status, 0, strict), false);
    assert.equal(passes(status, 0, { ...strict, downloadUnscanned: 'on' }), true);
    assert.equal(passes(status, 0, { downloadUnscanned: 'off' }), true);
  }
  for (const settings of [
    strict,
    { ...strict, downloadUnscanned: 'on' as const },
    { downloadUnscanned: 'on' as const },
  ])
    assert.equal(passes(VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.THREAT, settings), false);
});

test('the address of clamd is a path or a host with a port', () => {
  assert.deepEqual(toClamdAddress('unix:/run/clamav/clamd.ctl'), { path: '/run/clamav/clamd.ctl' });
  assert.deepEqual(toClamdAddress('unix:///run/clamd'), { path: '/run/clamd' });
  assert.deepEqual(toClamdAddress('tcp://clamav:3310'), { host: 'clamav', port: 3310 });
  assert.deepEqual(toClamdAddress('tcp://[::1]:3310'), { host: '::1', port: 3310 });
  for (const text of [
    'clamav:3310',
    'tcp://clamav',
    'tcp://clamav:0',
    'tcp://a:99999',
    'unix:',
    'unix:run',
    'http://a:1',
  ])
    assert.throws(() => readSettings({ MODSTEAD_CLAMD: text }), /^Error: MODSTEAD_CLAMD must be tcp:/, text);
});

test('the doctor command has clamd scan the test file, small and in the maximum size', async (t) => {
  const check = (address: string) =>
    scannerCheck(readSettings({ MODSTEAD_CLAMD: address, MODSTEAD_SCAN_MB: '1' })).run();
  assert.match(await scannerCheck(readSettings({})).run(), /not scanned/);
  assert.match(await check((await startClamdStub(t)).address), /^ClamAV 1.*up to 1 MB/);
  await assert.rejects(
    check((await startClamdStub(t, { streamBytesMax: 1_000 })).address),
    /does not accept files of 1 MB/,
  );
  await assert.rejects(check(`unix:${folder}/nobody`), /cannot be reached/);
  await assert.rejects(
    check((await startClamdStub(t, { answer: 'PONG\0' })).address),
    /does not detect the EICAR test file/,
  );
});
