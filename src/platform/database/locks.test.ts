import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

/** The exceptions: migrations, and rate limits, which a function of the database counts. */
const LOCKING = [
  'src/platform/database/locks.ts',
  'src/platform/database/migrate.ts',
  'src/platform/schema.ts',
  'src/platform/limits/migrations/2026-11-17-leases-by-index.ts',
  'src/platform/limits/migrations/2026-11-18-leases-by-bucket.ts',
];
const LOCK =
  /\bfor (?:no key )?update\b|\bfor (?:key )?share\b|advisory|lock table|\.for(?:Update|Share|NoKeyUpdate|KeyShare)\(/;

test('no other file takes locks', () => {
  const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts') && !LOCKING.includes(file));
  assert.deepEqual(
    files.filter((file) => LOCK.test(readFileSync(file, 'utf8'))),
    [],
  );
});
