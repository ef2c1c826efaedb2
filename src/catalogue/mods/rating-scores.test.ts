import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DISPLAY_TEXTS, displayText, percentagePositive, wilsonLowerBound } from './rating-scores.ts';

const ratings = fc
  .tuple(fc.nat({ max: 1_000_000 }), fc.nat({ max: 1_000_000 }))
  .map(([positive, negative]) => ({ positive, total: positive + negative }));

test('the weighted aggregate lies between 0 and the share of positive ratings', () => {
  fc.assert(
    fc.property(ratings, ({ positive, total }) => {
      const bound = wilsonLowerBound(positive, total);
      assert.ok(bound >= 0 && bound <= (total > 0 ? positive / total : 0), String(bound));
    }),
    { examples: [[{ positive: 0, total: 63_674 }]] },
  );
});

test('a further positive rating raises the weighted aggregate, and a negative one lowers it', () => {
  fc.assert(
    fc.property(ratings, ({ positive, total }) => {
      const bound = wilsonLowerBound(positive, total);
      assert.ok(wilsonLowerBound(positive + 1, total + 1) > bound);
      assert.ok(positive === 0 || wilsonLowerBound(positive, total + 1) < bound);
    }),
  );
});

test('with equal shares, more ratings give a higher weighted aggregate', () => {
  fc.assert(
    fc.property(ratings, fc.integer({ min: 2, max: 50 }), ({ positive, total }, times) => {
      fc.pre(positive > 0);
      assert.ok(wilsonLowerBound(positive * times, total * times) > wilsonLowerBound(positive, total));
    }),
  );
});

test('the weighted aggregate equals published values of the Wilson bound', () => {
  const known: [number, number, number][] = [
    [0, 0, 0],
    [0, 10, 0],
    [1, 1, 0.20655],
    [8, 10, 0.49016],
    [50, 100, 0.40383],
    [100, 100, 0.96301],
  ];
  for (const [positive, total, expected] of known)
    assert.ok(Math.abs(wilsonLowerBound(positive, total) - expected) < 1e-5, `${positive} of ${total}`);
});

test('every number of ratings has one of the ten texts, and only zero ratings are unrated', () => {
  fc.assert(
    fc.property(ratings, ({ positive, total }) => {
      const text = displayText(positive, total);
      assert.ok(DISPLAY_TEXTS.some((each) => each === text));
      assert.equal(text === 'Unrated', total === 0);
    }),
  );
  assert.equal(new Set(DISPLAY_TEXTS).size, 10);
});

const BEST_FIRST = [
  'Overwhelmingly Positive',
  'Very Positive',
  'Positive',
  'Mostly Positive',
  'Mixed',
  'Mostly Negative',
  'Negative',
  'Very Negative',
  'Overwhelmingly Negative',
];

test('with equally many ratings, more positive ones never have a worse text', () => {
  const pair = fc.tuple(fc.integer({ min: 1, max: 2_000 }), fc.nat(), fc.nat());
  fc.assert(
    fc.property(pair, ([total, a, b]) => {
      const [fewer, more] = [a % (total + 1), b % (total + 1)].sort((x, y) => x - y) as [number, number];
      const place = (positive: number) => BEST_FIRST.indexOf(displayText(positive, total));
      assert.ok(place(more) <= place(fewer));
    }),
  );
});

test('each text begins at its threshold', () => {
  const known: [number, number, string][] = [
    [475, 500, 'Overwhelmingly Positive'],
    [474, 500, 'Very Positive'],
    [499, 499, 'Very Positive'],
    [40, 50, 'Very Positive'],
    [49, 49, 'Positive'],
    [4, 5, 'Positive'],
    [79, 100, 'Mostly Positive'],
    [70, 100, 'Mostly Positive'],
    [69, 100, 'Mixed'],
    [40, 100, 'Mixed'],
    [39, 100, 'Mostly Negative'],
    [20, 100, 'Mostly Negative'],
    [99, 500, 'Overwhelmingly Negative'],
    [19, 100, 'Very Negative'],
    [9, 50, 'Very Negative'],
    [0, 49, 'Negative'],
    [0, 0, 'Unrated'],
  ];
  for (const [positive, total, text] of known) assert.equal(displayText(positive, total), text, `${positive}/${total}`);
});

test('percentages are whole numbers from 0 to 100', () => {
  fc.assert(
    fc.property(ratings, ({ positive, total }) => {
      const percentage = percentagePositive(positive, total);
      assert.ok(Number.isInteger(percentage) && percentage >= 0 && percentage <= 100);
    }),
  );
  assert.equal(percentagePositive(2, 3), 67);
});
