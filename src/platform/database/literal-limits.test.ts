import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withLiteralLimits } from './literal-limits.ts';

test('limits become numbers, and the other values stay in their order', () => {
  assert.deepEqual(withLiteralLimits('select 1 where a = ? order by b limit ? offset ?', ['x', 100, 8]), [
    'select 1 where a = ? order by b limit 100 offset ?',
    ['x', 8],
  ]);
  assert.deepEqual(
    withLiteralLimits('select 1 where a in (select b from c limit ?) and d = ? limit ?', [2, 'x', 7]),
    ['select 1 where a in (select b from c limit 2) and d = ? limit 7', ['x']],
    'several',
  );
  const again = withLiteralLimits('select 1 where a = ? order by b limit ? offset ?', ['y', 20, 0]);
  assert.deepEqual(again, ['select 1 where a = ? order by b limit 20 offset ?', ['y', 0]], 'another time');
});

test('texts in quotes are no values', () => {
  const text = `select 'limit ? it''s ?', "or ?" where a = ? limit ?`;
  assert.deepEqual(withLiteralLimits(text, ['x', 3]), [`select 'limit ? it''s ?', "or ?" where a = ? limit 3`, ['x']]);
});

test('only whole numbers become part of a statement', () => {
  for (const value of ['1; drop table mods', 1.5, null, undefined, 2n])
    assert.deepEqual(withLiteralLimits('select 1 limit ?', [value]), ['select 1 limit ?', [value]]);
  assert.deepEqual(withLiteralLimits('select 1 where a = ?', [1]), ['select 1 where a = ?', [1]]);
});
