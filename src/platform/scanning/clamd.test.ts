import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import { NOT_INSTALLED, STREAM_MEGABYTES, startRealClamd } from '../../../test/real-clamd.ts';
import { EICAR, nested, STORED, zipOf } from '../../../test/zips.ts';
import { scannerCheck } from '../../commands/checks/scanner.ts';
import { readSettings } from '../config/settings.ts';
import { clamdAt, scanArchive, VIRUS_POSITIVE, VIRUS_STATUS } from './scanning.ts';

// Uses the real daemon with a database of one signature. `npm run clamd-test` installs it on Debian first.

const daemon = await startRealClamd();
const real = { skip: daemon ? false : NOT_INSTALLED };
const address = daemon?.address ?? 'unix:/nowhere';
const clamd = clamdAt(address, { patienceMs: 30_000 });
after(() => daemon?.stop());

const scan = (zip: Buffer, fileBytesMax = 3_000_000) =>
  scanArchive(
    { bytes: zip.length, read: async (position, length) => zip.subarray(position, position + length) },
    clamd,
    { fileBytesMax },
  );

test('the real clamd returns its version', real, async () => {
  assert.match(await clamd.version(), /^ClamAV \d/);
});

test('the real clamd finds the test file at every nesting level that an archive may have', real, async () => {
  for (const method of [STORED, 8])
    for (let depth = 0; depth <= 3; depth += 1) {
      const { status, positive, threats } = await scan(nested('eicar.com', EICAR, depth, method));
      assert.deepEqual([status, positive], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.THREAT]);
      assert.ok(threats.some(({ path }) => path.endsWith('eicar.com')));
      assert.match(threats[0]!.signature, /^Test\.Eicar/);
    }
});

test('the real clamd finds nothing in a harmless archive', real, async () => {
  const found = await scan(
    zipOf([
      { name: 'a.txt', content: 'harmless' },
      { name: 'b.zip', content: zipOf([{ name: 'c' }]) },
    ]),
  );
  assert.deepEqual([found.status, found.positive], [VIRUS_STATUS.SCANNED, VIRUS_POSITIVE.NONE]);
});

test(
  'the real clamd finds a threat after a file that is too large, and the large file does not count as clean',
  real,
  async () => {
    const large = { name: 'large.bin', content: Buffer.alloc(6_000_000, 'abc'), method: STORED };
    // Clamd closes the connection at its limit, and its reply may or may not arrive before that.
    const { status } = await scan(zipOf([large]), 10_000_000);
    assert.ok(status === VIRUS_STATUS.FILE_TOO_LARGE || status === VIRUS_STATUS.SCAN_ERROR, String(status));
    const both = await scan(zipOf([large, { name: 'eicar.com', content: EICAR }]));
    assert.deepEqual([both.positive, both.unscanned.length], [VIRUS_POSITIVE.THREAT, 1]);
  },
);

test('the doctor command accepts the real clamd, unless its size limits are below the settings', real, async () => {
  const check = (megabytes: number) =>
    scannerCheck(readSettings({ MODSTEAD_CLAMD: address, MODSTEAD_SCAN_MB: String(megabytes) })).run();
  assert.match(await check(STREAM_MEGABYTES - 1), /^ClamAV/);
  await assert.rejects(check(STREAM_MEGABYTES * 2));
});
