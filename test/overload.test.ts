// Runs on one database: it is about connections of clients.
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { startApi } from './api.ts';

const api = await startApi({ settings: { MODSTEAD_TRUST_PROXY: '127.0.0.1', MODSTEAD_RATE_LIMITS: 'off' } });
const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: localhost\r\nx-forwarded-proto: https\r\n\r\n`;

const open = (): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ port: api.port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(socket)).once('error', reject);
  });

test('connections of busy readers do not keep new connections waiting', async (t) => {
  const READERS = 200;
  const NEWCOMERS = 64;
  const state = { answers: 0 };
  const readers = await Promise.all(Array.from({ length: READERS }, open));
  t.after(() => readers.forEach((socket) => void socket.destroy()));
  const allBusy = new Promise<void>((resolve) => {
    for (const socket of readers) {
      socket.on('data', () => {
        state.answers += 1;
        if (state.answers === 5 * READERS) resolve();
        socket.write(get('/v1/ping'));
      });
      socket.write(get('/v1/ping'));
    }
  });
  await allBusy;
  const before = state.answers;
  const statuses = await Promise.all(
    Array.from({ length: NEWCOMERS }, async () => {
      const socket = await open();
      const answer = new Promise<string>((resolve) =>
        socket.once('data', (bytes) => resolve(bytes.toString('latin1', 9, 12))),
      );
      socket.write(get('/healthz'));
      return answer.finally(() => socket.destroy());
    }),
  );
  assert.deepEqual(new Set(statuses), new Set(['200']));
  // One connection per turn of the event loop would let each reader have 64 answers first.
  const each = (state.answers - before) / READERS;
  t.diagnostic(`${each} answers per reader before all new connections were answered`);
  assert.ok(each < NEWCOMERS / 2, `${each} answers per reader came first`);
});
