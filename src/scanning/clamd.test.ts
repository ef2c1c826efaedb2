import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { after, before } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { EICAR, nested, STORED, zipOf } from '../../test/zips.ts';
import { scannerCheck } from '../commands/checks/scanner.ts';
import { readSettings } from '../config/settings.ts';
import { clamdAt, scanArchive, VIRUS_POSITIVE, VIRUS_STATUS } from './scanning.ts';

// Against the real daemon, with a database of one signature. `npm run clamd-test` installs it on Debian first.

const run = promisify(execFile);
const isInstalled = await run('clamd', ['--version']).then(
  () => true,
  () => false,
);
const real = { skip: isInstalled ? false : 'clamd is not installed; npm run clamd-test installs it' };
const START_MS_MAX = 60_000;
const STREAM_MEGABYTES = 4;

const folder = mkdtempSync(join(tmpdir(), 'modstead-clamd-'));
const address = `unix:${join(folder, 'socket')}`;
const clamd = clamdAt(address, { patienceMs: 30_000 });
let daemon: ChildProcess | undefined;
let said = '';

before(async () => {
  if (!isInstalled) return;
  // The signature of a body: target any, anywhere in the file.
  writeFileSync(join(folder, 'test.ndb'), `Test.Eicar:0:*:${Buffer.from(EICAR).toString('hex')}\n`);
  const settings = [
    `LocalSocket ${join(folder, 'socket')}`,
    `DatabaseDirectory ${folder}`,
    `TemporaryDirectory ${folder}`,
    `StreamMaxLength ${STREAM_MEGABYTES}M`,
    `MaxFileSize ${STREAM_MEGABYTES}M`,
    'Foreground yes',
    'MaxThreads 2',
    'AlertEncrypted yes',
    'AlertExceedsMax yes',
    ...(process.getuid?.() === 0 ? ['User root'] : []),
  ];
  writeFileSync(join(folder, 'clamd.conf'), `${settings.join('\n')}\n`);
  daemon = spawn('clamd', ['--config-file', join(folder, 'clamd.conf')], { stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [daemon.stdout!, daemon.stderr!]) stream.on('data', (text) => (said += text));
  const deadline = performance.now() + START_MS_MAX;
  const isUp = () =>
    clamd.ping().then(
      () => true,
      () => false,
    );
  while (!(await isUp())) {
    assert.ok(daemon.exitCode === null && performance.now() < deadline, `clamd did not start: ${said}`);
    await delay(50);
  }
});

after(async () => {
  if (daemon && daemon.exitCode === null) {
    const ended = new Promise((resolve) => daemon!.once('exit', resolve));
    daemon.kill('SIGKILL');
    await ended;
  }
  rmSync(folder, { recursive: true, force: true });
});

const scan = (zip: Buffer, fileBytesMax = 3_000_000) =>
  scanArchive(
    { bytes: zip.length, read: async (position, length) => zip.subarray(position, position + length) },
    clamd,
    { fileBytesMax },
  );

test('the real clamd answers with its version', real, async () => {
  assert.match(await clamd.version(), /^ClamAV \d/);
});

test('the real clamd catches the test file at every depth that an archive may have', real, async () => {
  for (const method of [STORED, 8])
    for (let depth = 0; depth <= 3; depth += 1) {
      const { status, positive, threats } = await scan(nested('eicar.com', EICAR, depth, method));
      assert.deepEqual([status, positive], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.THREAT]);
      assert.ok(threats.some(({ path }) => path.endsWith('eicar.com')));
      assert.match(threats[0]!.signature, /^Test\.Eicar/);
    }
});

test('the real clamd finds nothing where nothing is', real, async () => {
  const found = await scan(
    zipOf([
      { name: 'a.txt', content: 'harmless' },
      { name: 'b.zip', content: zipOf([{ name: 'c' }]) },
    ]),
  );
  assert.deepEqual([found.status, found.positive], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.NONE]);
});

test(
  'what is behind a file too large for the real clamd is caught, and the large file is not called clean',
  real,
  async () => {
    const large = { name: 'large.bin', content: Buffer.alloc(6_000_000, 'abc'), method: STORED };
    // Clamd hangs up when it has enough; whether its answer comes before that is not for us to say.
    const { status } = await scan(zipOf([large]), 10_000_000);
    assert.ok(status === VIRUS_STATUS.FILE_TOO_LARGE || status === VIRUS_STATUS.SCAN_ERROR, String(status));
    const both = await scan(zipOf([large, { name: 'eicar.com', content: EICAR }]));
    assert.deepEqual([both.positive, both.unscanned.length], [VIRUS_POSITIVE.THREAT, 1]);
  },
);

test('the doctor is content with the real clamd, unless it takes less than it is asked for', real, async () => {
  const check = (megabytes: number) =>
    scannerCheck(readSettings({ MODSTEAD_CLAMD: address, MODSTEAD_SCAN_MB: String(megabytes) })).run();
  assert.match(await check(STREAM_MEGABYTES - 1), /^ClamAV/);
  await assert.rejects(check(STREAM_MEGABYTES * 2));
});
