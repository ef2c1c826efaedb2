// Runs on one database: it is about connections of clients.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, test } from 'node:test';
import { setTimeout as passes } from 'node:timers/promises';
import { z } from 'zod';
import { startApi } from '../../../test/api.ts';
import { requestOf, serveOperations, Wire } from '../../../test/wire.ts';
import { anyone } from '../access/caller.ts';
import { ApiError } from '../errors/catalogue.ts';
import { closeLingering, type LingeringLimits } from './lingering-close.ts';
import { MessageObject } from './objects.ts';
import { ok, operation } from './operation.ts';

const NEVER = 600_000;
/** Limits that never apply, except for the one under test. */
const patient: LingeringLimits = {
  bodyIdleMs: NEVER,
  idleMs: 80,
  totalMs: NEVER,
  drainingMs: NEVER,
  bytesMax: Infinity,
};
const AWAITED = { isBodyPending: () => true, isDraining: () => false };
const PIECE = Buffer.alloc(1_000, 'x');
/** Together more than all buffers between client and server. */
const LARGE_PIECE = Buffer.alloc(200_000, 'x');
const PIECES = 100;

const server = createServer({ allowHalfOpen: true });
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());

/** Both ends of a connection. The client reads nothing, so it does not notice that the server has ended. */
async function aConnection(t: { after(work: () => void): void }): Promise<{ client: Socket; socket: Socket }> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause();
  const [socket] = (await once(server, 'connection')) as [Socket];
  for (const end of [client, socket]) end.on('error', () => {});
  t.after(() => client.destroy());
  return { client, socket };
}

/** Sends a few bytes repeatedly until the other end is closed. */
async function trickle(client: Socket, socket: Socket): Promise<void> {
  while (!socket.closed) {
    client.write(PIECE);
    await passes(5);
  }
}

test('a connection without further input is closed, and later if the rest of a body is pending', async (t) => {
  const [over, awaited] = [await aConnection(t), await aConnection(t)];
  const limits = { ...patient, bodyIdleMs: 400 };
  closeLingering(awaited.socket, limits, AWAITED);
  closeLingering(over.socket, limits, { ...AWAITED, isBodyPending: () => false });
  const ended: string[] = [];
  await Promise.all([
    once(awaited.socket, 'close').then(() => ended.push('awaited')),
    once(over.socket, 'close').then(() => ended.push('over')),
  ]);
  assert.deepEqual(ended, ['over', 'awaited']);
});

test('a client that sends without end is disconnected after a time', async (t) => {
  const { client, socket } = await aConnection(t);
  closeLingering(socket, { ...patient, totalMs: 150 }, AWAITED);
  await trickle(client, socket);
});

test('a service that shuts down waits less', async (t) => {
  const { client, socket } = await aConnection(t);
  closeLingering(socket, { ...patient, drainingMs: 50 }, { ...AWAITED, isDraining: () => true });
  await trickle(client, socket);
});

test('a client that sends too much is disconnected', async (t) => {
  const { client, socket } = await aConnection(t);
  closeLingering(socket, { ...patient, bytesMax: 50 * PIECE.length }, AWAITED);
  await trickle(client, socket);
  assert.ok(socket.bytesRead > 50 * PIECE.length);
});

test('the server does not wait for a client that closes', async (t) => {
  const { client, socket } = await aConnection(t);
  closeLingering(socket, { ...patient, idleMs: NEVER }, AWAITED);
  client.destroy();
  await once(socket, 'close');
});

const api = await startApi();
const refusing = operation({
  id: 'refusing-operation',
  tag: 'Test',
  method: 'PUT',
  path: '/refusing',
  says: 'Refuses a body of which it reads no more than the beginning, or nothing.',
  access: anyone(),
  raw: { bytesMax: 1_000_000_000, says: 'Anything.' },
  returns: ok(MessageObject),
  errors: [],
  query: z.object({ begins: z.boolean().optional() }),
  handle: async (_, { raw, query }) => {
    if (query.begins) for await (const _ of raw.chunks) break;
    throw new ApiError('RESOURCE_NOT_FOUND');
  },
});

for (const [tls, path, status, says] of [
  [{}, '/v1/refusing', 404, 'over TLS'],
  [{}, '/v1/refusing?begins=1', 404, 'also where its beginning was read'],
  ['off', '/v1/refusing', 400, 'without TLS'],
] as const)
  test(`a client that slowly sends a refused body to its end reads the response then: ${says}`, async (t) => {
    const port = await serveOperations(api, [refusing], {}, { ...patient, bodyIdleMs: 200 });
    t.after(() => port.drain(0));
    const wire = await Wire.open(api, { port: port.port, tls });
    t.after(() => wire.close());
    wire.write(requestOf(`PUT ${path}`, { 'content-length': String(PIECES * LARGE_PIECE.length) }));
    // The response waits in the socket buffer until the body was sent; an earlier reset would lose it.
    wire.socket.pause();
    for (let piece = 0; piece < PIECES; piece += 1) {
      await passes(10);
      wire.write(LARGE_PIECE);
    }
    wire.socket.resume();
    assert.equal((await wire.answer()).status, status);
    await wire.rest();
  });
