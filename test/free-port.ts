import { type AddressInfo, createServer } from 'node:net';

/** A port for a service whose address is needed before it starts, for instance because its links contain it. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
