import assert from 'node:assert/strict';
import test from 'node:test';
import { manualClock, systemClock } from './clock.ts';

test('the system clock returns whole seconds and milliseconds of the same moment', () => {
  const before = Date.now();
  const seconds = systemClock.now();
  const after = systemClock.millis();
  assert.ok(Number.isInteger(seconds));
  assert.ok(seconds >= Math.floor(before / 1000) && seconds <= after / 1000);
});

test('the monotonic time of the system clock does not go backwards', () => {
  const first = systemClock.monotonicMs();
  assert.ok(systemClock.monotonicMs() >= first);
});

test('a manual clock stands still until it is advanced', () => {
  const clock = manualClock(1_700_000_000);
  assert.equal(clock.now(), 1_700_000_000);
  clock.advance(1.5);
  assert.equal(clock.now(), 1_700_000_001);
  assert.equal(clock.millis(), 1_700_000_001_500);
  assert.equal(clock.monotonicMs(), 1500);
});

test('setting the time of day back leaves monotonic time unchanged', () => {
  const clock = manualClock(10_000);
  clock.advance(5);
  clock.advance(-3600);
  assert.equal(clock.now(), 6405);
  assert.equal(clock.monotonicMs(), 5000);
});
