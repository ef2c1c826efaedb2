import { connect, createServer, type Socket } from 'node:net';

/** A proxy to PostgreSQL that can stop forwarding without closing connections. */
export interface ListenProxy {
  readonly url: string;
  /** Silences the listening connections. */
  block(): void;
  unblock(): void;
  /** Silences all connections that are open now, or those that do not listen; new ones are forwarded. */
  vanish(which?: 'all' | 'not listening'): void;
  close(): void;
}

const LISTENING = 'modstead changes';

export async function startListenProxy(url: string): Promise<ListenProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  const nears = new Set<Socket>();
  const listening = new Set<Socket>();
  const vanished = new Set<Socket>();
  let isBlocked = false;
  const isForwarded = (near: Socket) => !vanished.has(near) && !(isBlocked && listening.has(near));
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    nears.add(near);
    const forward = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on('data', (bytes) => {
        if (bytes.includes(LISTENING)) listening.add(near);
        if (isForwarded(near)) to.write(bytes);
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
    vanish: (which = 'all') => {
      for (const near of nears) if (which === 'all' || !listening.has(near)) vanished.add(near);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
