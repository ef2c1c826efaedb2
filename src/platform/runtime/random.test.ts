import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { seededRandom, systemRandom } from './random.ts';

test('hex text, codes and bytes have exactly the requested length', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 300 }), (length) => {
      assert.match(systemRandom.hex(length), new RegExp(`^[0-9a-f]{${length}}$`));
      assert.match(systemRandom.code(length), new RegExp(`^[A-HJ-NP-Z2-9]{${length}}$`));
      assert.equal(systemRandom.bytes(length).length, length);
    }),
  );
});

test('a token has 256 bits in characters that need no escaping', () => {
  assert.match(systemRandom.token(), /^[A-Za-z0-9_-]{43}$/);
  assert.notEqual(systemRandom.token(), systemRandom.token());
});

test('a uuid is of version 4', () => {
  assert.match(systemRandom.uuid(), /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
});

test('every character of a code is equally likely', () => {
  const drawn = 320_000;
  const counts = new Map<string, number>();
  for (const character of seededRandom('bias').code(drawn)) counts.set(character, (counts.get(character) ?? 0) + 1);
  assert.equal(counts.size, 32);
  const expected = drawn / 32;
  const chiSquare = [...counts.values()].reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
  assert.ok(chiSquare < 61.1, `chi-square of 31 degrees of freedom is ${chiSquare}, beyond p = 0.001`);
});

test('a seed always yields the same sequence, and another seed yields another', () => {
  const sequence = (seed: string | number) => {
    const random = seededRandom(seed);
    return [random.hex(7), random.code(5), random.uuid(), random.token(), random.bytes(20_000).toString('hex')];
  };
  assert.deepEqual(sequence(42), sequence(42));
  assert.notDeepEqual(sequence(42), sequence(43));
  assert.equal(seededRandom('demo').hex(32), seededRandom('demo').bytes(16).toString('hex'));
});

test('the sequence of a seed stays the same from release to release', () => {
  assert.equal(seededRandom(1).hex(16), '0eeece4b56edaf65');
});
