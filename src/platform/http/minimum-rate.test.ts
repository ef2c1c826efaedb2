import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import test from 'node:test';
import { type CurrentExchange, enforceMinimumRate } from './minimum-rate.ts';

test('setting the clock an hour ahead closes no connection', (t) => {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] });
  let isEnded = false;
  const socket = { bytesRead: 0, bytesWritten: 0, writableLength: 0, destroy: () => (isEnded = true) };
  const current = { request: { complete: false }, response: { writableFinished: false }, seen: undefined };
  const watch = enforceMinimumRate(new Map([[socket as unknown as Socket, current as unknown as CurrentExchange]]));
  t.mock.timers.tick(5_000);
  assert.notEqual(current.seen, undefined);
  t.mock.timers.setTime(Date.now() + 3_600_000);
  t.mock.timers.tick(5_000);
  assert.equal(isEnded, false);
  clearInterval(watch);
});
