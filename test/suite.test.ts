import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

const WALL_CLOCK = /\b(?:performance\.now|Date\.now|process\.hrtime)\b/;

/** Files that need the real clock, or a limit that only a hang exceeds, with the reason. */
const MEANT: Record<string, string> = {
  'src/platform/runtime/clock.test.ts': 'tests the system clock',
  'src/platform/http/certificate.test.ts': 'certificates are valid from now on',
  'src/platform/http/timeouts.test.ts': 'sets the clock to test that it has no effect',
  'src/platform/storage/local.test.ts': 'the file system records modification times',
  'src/commands/commands.test.ts': 'commands use the real clock',
  'test/crash/counters.ts': 'waits for counters, with a limit that only a hang exceeds',
  'src/platform/telemetry/telemetry.test.ts': 'the spans of OpenTelemetry have real times',
  'src/records/traffic/traffic.test.ts': 'requests that began long ago',
  'test/crash/database-copies.ts': 'ends a database that never starts',
  'test/crash/restores.ts': 'a script that measures recovery',
  'test/fleet/cluster.ts': 'ends a cluster that never starts',
  'test/crash/imports.ts': 'prints how fast an import was, without a decision',
  'test/crash/power.ts': 'a script that waits for a service that starts',
  'test/faults/silence.ts': 'a script that measures how long writes wait',
  'test/fleet/failover.ts': 'a script that measures failover',
  'test/fleet/writers.ts': 'a script that measures failover',
  'test/crash/crash.ts': 'prints the duration, without a decision',
  'test/postgres.ts': 'folders that a killed run has left are hours old',
  'test/real-clamd.ts': 'ends a scanner that never starts',
  'test/s3.ts': 'signatures name the time of day',
};

test('no test reads the wall clock', () => {
  const files = globSync(['src/**/*.test.ts', 'test/**/*.ts']).sort();
  const found = files.filter((file) => WALL_CLOCK.test(readFileSync(file, 'utf8')));
  assert.deepEqual(found, Object.keys(MEANT).sort());
});
