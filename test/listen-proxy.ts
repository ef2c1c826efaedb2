import { connect, createServer, type Socket } from 'node:net';

/** A proxy to PostgreSQL that can stop forwarding the listening connections without closing them. */
export interface ListenProxy {
  readonly url: string;
  block(): void;
  unblock(): void;
  close(): void;
}

const LISTENING = 'modstead changes';

export async function startListenProxy(url: string): Promise<ListenProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const listening = new Set<Socket>();
  let isBlocked = false;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const forward = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (bytes.includes(LISTENING)) listening.add(near);
        if (!isBlocked || !listening.has(near)) to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => to.destroy());
    };
    forward(near, far);
    forward(far, near);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const way = new URL(url);
  way.port = String((server.address() as { port: number }).port);
  // The folder of a Unix socket would take precedence.
  way.searchParams.delete('host');
  return {
    url: way.href,
    block: () => {
      isBlocked = true;
    },
    unblock: () => {
      isBlocked = false;
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
