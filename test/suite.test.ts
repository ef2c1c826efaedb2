import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const WALL_CLOCK = /\b(?:performance\.now|Date\.now|process\.hrtime)\b/;

/** Where the time of day itself is meant, or a bound that only ends what hangs. */
const MEANT: Record<string, string> = {
  'src/platform/runtime/clock.test.ts': 'the system’s clock tells the time of day',
  'src/platform/http/certificate.test.ts': 'certificates are good for days from now on',
  'src/platform/http/minimum-rate.test.ts': 'the clock is set in a test of what must not mind',
  'src/platform/storage/local.test.ts': 'files are as old as the disk says',
  'src/commands/commands.test.ts': 'commands have the time of day',
  'test/crash/crash.ts': 'is told to whoever runs the loop, and decides nothing',
  'test/postgres.ts': 'folders that a killed run has left are hours old',
  'test/real-clamd.ts': 'ends a scanner that never starts',
  'test/s3.ts': 'signatures name the time of day',
};

test('nothing in the tests depends on how long something takes', () => {
  const files = globSync(['src/**/*.test.ts', 'test/**/*.ts']).sort();
  const found = files.filter((file) => WALL_CLOCK.test(readFileSync(file, 'utf8')));
  assert.deepEqual(found, Object.keys(MEANT).sort());
});
