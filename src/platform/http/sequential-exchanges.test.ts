import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Agent, createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { SequentialExchanges } from './sequential-exchanges.ts';

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
  const kept = [...exchanges.current.values()].map(({ request, response }) => [request, response]);
  assert.deepEqual(kept, [[undefined, undefined]], 'one connection, without an exchange');
});
