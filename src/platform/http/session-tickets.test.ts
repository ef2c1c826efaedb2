import assert from 'node:assert/strict';
import test from 'node:test';
import { sessionTickets } from './session-tickets.ts';

test('the key of session tickets changes every day, and is the same wherever the secret is', (t) => {
  const DAY_MS = 86_400_000;
  t.mock.timers.enable({ apis: ['setTimeout', 'Date'], now: 20_000 * DAY_MS + 1 });
  const tickets = sessionTickets('secret');
  assert.deepEqual(tickets.key(), sessionTickets('secret').key());
  assert.notDeepEqual(tickets.key(), sessionTickets('another secret').key());
  const keys = [tickets.key().toString('hex')];
  const end = tickets.rotate((key) => keys.push(key.toString('hex')));
  t.mock.timers.tick(DAY_MS - 2);
  assert.equal(keys.length, 1);
  t.mock.timers.tick(1);
  t.mock.timers.tick(DAY_MS);
  end();
  t.mock.timers.tick(DAY_MS);
  assert.deepEqual([keys.length, new Set(keys).size, keys[0]!.length], [3, 3, 96]);
});
