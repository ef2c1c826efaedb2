import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import test from 'node:test';
import { type Connection, forgetExchange, newConnection } from './connection.ts';
import { enforceTimeouts } from './timeouts.ts';

const HOUR_MS = 3_600_000;
const PENDING = { response: { req: { complete: false }, writableFinished: false } };

/** A connection under checks, and what has become of it. */
function checked(t: test.TestContext, state: object = {}) {
  t.mock.timers.enable({ apis: ['setInterval', 'Date'] });
  const ends: string[] = [];
  const destroy = () => void ends.push('destroyed');
  const socket = { bytesRead: 0, bytesWritten: 0, writableLength: 0, writableEnded: false, destroy };
  const connection: Connection = { ...newConnection(socket as unknown as Socket), ...state };
  const checks = enforceTimeouts([connection], () => void ends.push('refused'));
  t.after(() => clearInterval(checks));
  const pass = (seconds: number): string | undefined => {
    t.mock.timers.tick(seconds * 1_000);
    return ends[0];
  };
  return { socket, connection, pass };
}

test('a connection without a request is closed after fifteen seconds', (t) => {
  const { pass } = checked(t);
  assert.equal(pass(15), undefined);
  assert.equal(pass(3), 'destroyed');
});

test('a request whose headers trickle in is refused after fifteen seconds', (t) => {
  const { socket, pass } = checked(t);
  for (let second = 0; second <= 15; second += 1) {
    socket.bytesRead += 1;
    assert.equal(pass(1), undefined, `after ${second} s`);
  }
  assert.equal(pass(3), 'refused');
});

test('a connection is kept for 65 seconds between requests, but a request that has begun must arrive', (t) => {
  const { socket, connection, pass } = checked(t, { hasServed: true });
  socket.bytesRead = 1_000;
  forgetExchange(connection);
  assert.equal(pass(65), undefined);
  socket.bytesRead += 1;
  assert.equal(pass(15), undefined);
  assert.equal(pass(3), 'refused');
});

test('a connection is closed when its client sends no further request', (t) => {
  const { socket, connection, pass } = checked(t, { hasServed: true });
  socket.bytesRead = 1_000;
  forgetExchange(connection);
  assert.equal(pass(69), 'destroyed');
});

test('a connection that is about to close is left to its own limits', (t) => {
  const { socket, pass } = checked(t, { hasServed: true });
  socket.writableEnded = true;
  assert.equal(pass(600), undefined);
});

test('setting the clock an hour ahead closes no connection', (t) => {
  const { connection, pass } = checked(t, PENDING);
  pass(2);
  assert.notEqual(connection.seen, undefined);
  t.mock.timers.setTime(Date.now() + HOUR_MS);
  assert.equal(pass(2), undefined);
});
