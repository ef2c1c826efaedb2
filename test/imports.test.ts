import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportImports } from '../tools/imports.ts';

test('imports follow the rules of tools/import-rules.ts, from a domain down and in no circle', () => {
  const { imports, against, up, cycles } = reportImports();
  assert.ok(imports > 1_000, `only ${imports} imports were found`);
  assert.deepEqual([...against, ...up, ...cycles], []);
});
