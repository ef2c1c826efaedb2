import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { connectionOf } from './connection.ts';
import type { LingeringLimits } from './lingering-close.ts';
import { SequentialExchanges } from './sequential-exchanges.ts';

const NEVER = 600_000;
const PATIENT: LingeringLimits = {
  ...{ bodyIdleMs: NEVER, idleMs: NEVER, totalMs: NEVER, drainingMs: NEVER },
  bytesMax: Infinity,
};
const LAST = 'Host: localhost\r\nConnection: close\r\n';

test('a connection that waits for its next request keeps none of the last one', async (t) => {
  const answered: ServerResponse[] = [];
  const exchanges = new SequentialExchanges((_request, response) => {
    answered.push(response);
    response.end('done');
  });
  const server = createServer((request, response) => exchanges.begin(request, response)).listen(0, '127.0.0.1');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => {
    agent.destroy();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  for (let i = 0; i < 2; i += 1) {
    const [response] = await once(get({ port, agent }), 'response');
    response.resume();
    await once(response, 'end');
    if (!answered[i]!.closed) await once(answered[i]!, 'close');
  }
  const kept = [...exchanges.connections].map(({ response }) => response);
  assert.deepEqual(kept, [undefined], 'one connection, without an exchange');
});

/** Both ends of a connection whose client has sent these bytes and read the response, but keeps its side open. */
async function answered(t: { after(work: () => void): void }, bytes: string): Promise<[Socket, Socket]> {
  const exchanges = new SequentialExchanges((_request, response) => void response.end('done'), PATIENT);
  const server = createServer((request, response) => exchanges.begin(request, response)).listen(0, '127.0.0.1');
  server.on('clientError', (error, socket) => exchanges.refuse(error, socket as Socket));
  await once(server, 'listening');
  const client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  t.after(() => {
    client.destroy();
    server.close();
  });
  client.write(bytes);
  const [socket] = (await once(server, 'connection')) as [Socket];
  await once(client.resume(), 'end');
  return [client, socket];
}

test('a connection is closed at once if its client announced that nothing follows', async (t) => {
  const [, socket] = await answered(t, `GET / HTTP/1.1\r\n${LAST}\r\n`);
  if (!socket.closed) await once(socket, 'close');
});

test('a closed connection keeps none of its exchanges', async (t) => {
  const [, socket] = await answered(t, `GET / HTTP/1.1\r\n${LAST}\r\n`);
  if (!socket.closed) await once(socket, 'close');
  const connection = connectionOf(socket);
  assert.equal(connection?.hasServed, true);
  assert.equal(connection.response, undefined);
});

test('after a body a connection waits for its client, which may send surplus bytes', async (t) => {
  const [client, socket] = await answered(t, `POST / HTTP/1.1\r\n${LAST}Content-Length: 4\r\n\r\nbody`);
  const before = socket.bytesRead;
  client.write('surplus');
  while (socket.bytesRead === before) await new Promise(setImmediate);
  assert.equal(socket.destroyed, false);
  client.end();
  if (!socket.closed) await once(socket, 'close');
});
