import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { RANGES_MAX, rangesOf } from './ranges.ts';

test('a range has both ends, a start, or a length from the end', () => {
  assert.deepEqual(rangesOf('bytes=0-', 10), [{ start: 0, end: 9 }]);
  assert.deepEqual(rangesOf('bytes=2-4', 10), [{ start: 2, end: 4 }]);
  assert.deepEqual(rangesOf('bytes=8-99', 10), [{ start: 8, end: 9 }]);
  assert.deepEqual(rangesOf('bytes=-3', 10), [{ start: 7, end: 9 }]);
  assert.deepEqual(rangesOf('bytes=-99', 10), [{ start: 0, end: 9 }]);
  assert.deepEqual(rangesOf(' Bytes = 2-4 ', 10), [{ start: 2, end: 4 }]);
});

test('an invalid range requests the whole object', () => {
  for (const header of [
    undefined,
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=a-b',
    'bytes=4-2',
    'lines=1-2',
    'bytes=1-2-3',
  ])
    assert.equal(rangesOf(header, 10), 'whole', String(header));
  assert.equal(rangesOf('bytes=1-2,oops', 10), 'whole');
  assert.equal(rangesOf('bytes=0-', 0), 'whole', 'shipped clients ask so for everything');
});

test('a range after the end is unsatisfiable, unless another one is not', () => {
  for (const header of ['bytes=10-', 'bytes=-0', 'bytes=99999999999999999999-', 'bytes=10-11,12-'])
    assert.equal(rangesOf(header, 10), 'unsatisfiable', header);
  assert.deepEqual(rangesOf('bytes=10-,1-2', 10), [{ start: 1, end: 2 }]);
});

test('several ranges keep their order; those that overlap or nearly touch are merged', () => {
  assert.deepEqual(rangesOf('bytes=5000-5009,0-9', 10_000), [
    { start: 5000, end: 5009 },
    { start: 0, end: 9 },
  ]);
  assert.deepEqual(rangesOf('bytes=0-99,50-149,200-300', 10_000), [{ start: 0, end: 300 }]);
  assert.deepEqual(rangesOf(`bytes=${'0-,'.repeat(RANGES_MAX)}`, 10_000), [{ start: 0, end: 9_999 }]);
});

test('too many ranges are refused', () => {
  assert.equal(rangesOf(`bytes=${'0-,'.repeat(RANGES_MAX + 1)}`, 10_000), 'unsatisfiable');
});

test('any requested ranges lie within the object, do not overlap, and never exceed its length', () => {
  const range = fc.oneof(
    fc.tuple(fc.nat(1200), fc.nat(1200)).map(([start, more]) => `${start}-${start + more}`),
    fc.nat(1200).map((start) => `${start}-`),
    fc.nat(1200).map((length) => `-${length}`),
  );
  fc.assert(
    fc.property(fc.array(range, { minLength: 1, maxLength: 20 }), fc.integer({ min: 1, max: 5000 }), (asked, bytes) => {
      const parts = rangesOf(`bytes=${asked.join(', ')}`, bytes);
      if (typeof parts === 'string') return;
      const ascending = parts.toSorted((a, b) => a.start - b.start);
      let last = -1;
      for (const { start, end } of ascending) {
        assert.ok(start > last && end >= start && end < bytes);
        last = end;
      }
    }),
    { numRuns: 1000 },
  );
});
