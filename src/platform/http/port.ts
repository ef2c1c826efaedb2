import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { DEFAULT_CIPHERS, type SecureContext } from 'node:tls';
import { limitedAddress } from './address.ts';
import { watchFirstBytes } from './first-bytes.ts';
import type { LingeringLimits } from './lingering-close.ts';
import { bindSockets, SOCKETS_PER_PROCESS } from './listening-sockets.ts';
import { SequentialExchanges } from './sequential-exchanges.ts';
import type { Listener } from './server.ts';
import { type SessionTickets, TICKET_SECONDS } from './session-tickets.ts';
import type { Sockets } from './sockets.ts';
import { announceKeepAlive, enforceTimeouts } from './timeouts.ts';

const TLS_HANDSHAKE = 0x16;
const HANDSHAKE_TIMEOUT_MS = 15_000;

/** Processors compute SHA-256 in hardware, but not SHA-384, which is a twentieth of a handshake. */
const FIRST_CIPHER = 'TLS_AES_128_GCM_SHA256';
/** Only reordered: an operator may have restricted the ciphers of Node.js. */
const CIPHERS = DEFAULT_CIPHERS.split(':')
  .toSorted((one, other) => Number(other === FIRST_CIPHER) - Number(one === FIRST_CIPHER))
  .join(':');

const SERVER_OPTIONS = {
  // `timeouts.ts` takes the place of all three.
  headersTimeout: 0,
  requestTimeout: 0,
  keepAliveTimeout: 0,
  maxHeaderSize: 16 * 1024,
  // Node's own error is not in the API's format; `isUnambiguous` checks the header instead.
  requireHostHeader: false,
  insecureHTTPParser: false,
  // Most requests have no body and need no stream for one.
  optimizeEmptyRequests: true,
};

export interface PortOptions {
  readonly listener: Listener;
  /** Without it, no request is upgraded. */
  readonly sockets?: Sockets;
  readonly tls: {
    key: string;
    cert: string;
    SNICallback?: (name: string, callback: (error: Error | null, context?: SecureContext) => void) => void;
  };
  /** Without it, only this process recognises clients that return. */
  readonly tickets?: SessionTickets;
  readonly port: number;
  readonly bind: string | undefined;
  /** Sockets that are already bound, instead of `port` and `bind`. */
  readonly listenFds?: readonly number[] | undefined;
  /** Defaults to `LINGERING_LIMITS`. */
  readonly lingering?: LingeringLimits;
  /** The number of connections that one address may open; trusted proxies are not limited. */
  readonly connectionsMax: (address: string) => number;
}

export interface Port {
  readonly port: number;
  /** Stops accepting connections, lets running requests finish, and closes what is left after this time. */
  drain(milliseconds: number): Promise<void>;
}

/**
 * Serves TLS and plain HTTP on one port. Plain requests reach the same listener, which rejects them unless a trusted
 * proxy forwarded them.
 */
export async function openPort(options: PortOptions): Promise<Port> {
  const { sockets } = options;
  const exchanges = new SequentialExchanges(options.listener, options.lingering);
  // A request that is not upgraded is answered as a normal request.
  const serverOptions = {
    ...SERVER_OPTIONS,
    shouldUpgradeCallback: (request: IncomingMessage) => sockets?.wants(request) === true,
  };
  const secure = createHttpsServer({
    ...serverOptions,
    ...options.tls,
    minVersion: 'TLSv1.2',
    ciphers: CIPHERS,
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
    // Node.js would derive it from the command line, which may differ between machines.
    sessionIdContext: 'modstead',
    sessionTimeout: TICKET_SECONDS,
    ...(options.tickets && { ticketKeys: options.tickets.key() }),
  });
  const endRotation = options.tickets?.rotate((key) => secure.setTicketKeys(key));
  const plain = createHttpServer(serverOptions);
  for (const server of [secure, plain]) prepare(server, exchanges, sockets);
  const wasRepaired = watchFirstBytes(secure, (socket) => exchanges.expect(socket));
  // The next request may need a repair, too, which is only possible on a new connection.
  secure.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (wasRepaired(request.socket)) response.shouldKeepAlive = false;
  });
  const beginTls = (socket: Socket) => {
    exchanges.leave(socket);
    secure.emit('connection', socket);
  };
  const connections = new Connections(options.connectionsMax);
  const listeners = await listening(options, (socket) => {
    if (!connections.admit(socket)) return void socket.destroy();
    exchanges.expect(socket);
    sniff(socket, plain, beginTls);
  });
  const checks = enforceTimeouts(exchanges.connections, ({ socket }) => exchanges.refuse(new Error('late'), socket));
  return {
    port: (listeners[0]!.address() as AddressInfo).port,
    drain: async (milliseconds) => {
      const closed = Promise.all(listeners.map((each) => new Promise<void>((done) => each.close(() => done()))));
      exchanges.drain();
      sockets?.drain();
      const deadline = setTimeout(() => connections.end(), milliseconds);
      await closed;
      clearTimeout(deadline);
      clearInterval(checks);
      endRotation?.();
      for (const server of [secure, plain]) server.close();
    },
  };
}

async function listening(
  { port, bind, listenFds }: PortOptions,
  accept: (socket: Socket) => void,
): Promise<NetServer[]> {
  const sockets = listenFds?.map((fd) => ({ fd })) ?? (await bindSockets(bind, port, SOCKETS_PER_PROCESS));
  return Promise.all(
    sockets.map(
      (socket) =>
        new Promise<NetServer>((resolve, reject) => {
          const server = createNetServer({ noDelay: true }, accept);
          server.once('error', reject);
          server.listen(socket, () => resolve(server));
        }),
    ),
  );
}

/** The open connections, counted per address. */
class Connections {
  readonly #max: PortOptions['connectionsMax'];
  readonly #sockets = new Set<Socket>();
  readonly #held = new Map<string, number>();

  constructor(max: PortOptions['connectionsMax']) {
    this.#max = max;
  }

  /** Counts the connection; false when its address has too many. */
  admit(socket: Socket): boolean {
    const address = socket.remoteAddress ?? '';
    const holder = limitedAddress(address);
    const count = (this.#held.get(holder) ?? 0) + 1;
    if (count > this.#max(address)) return false;
    this.#held.set(holder, count);
    this.#sockets.add(socket);
    socket.once('close', () => this.#forget(socket, holder));
    return true;
  }

  #forget(socket: Socket, holder: string): void {
    this.#sockets.delete(socket);
    const left = this.#held.get(holder)! - 1;
    if (left > 0) this.#held.set(holder, left);
    else this.#held.delete(holder);
  }

  end(): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}

/** Distinguishes TLS from plain HTTP by the first byte. */
function sniff(socket: Socket, plain: HttpServer, beginTls: (socket: Socket) => void): void {
  socket.on('error', () => socket.destroy());
  socket.once('data', (first: Buffer) => {
    if (first[0] === TLS_HANDSHAKE) {
      socket.pause();
      socket.unshift(first);
      beginTls(socket);
    } else {
      plain.emit('connection', socket);
      socket.emit('data', first);
    }
  });
}

function prepare(server: HttpServer | HttpsServer, exchanges: SequentialExchanges, sockets: Sockets | undefined): void {
  const begin = (request: IncomingMessage, response: ServerResponse) => {
    announceKeepAlive(response);
    exchanges.begin(request, response);
  };
  server.on('request', begin);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    exchanges.leave(socket);
    sockets?.take(request, socket, head);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => exchanges.refuse(error, socket));
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  // Without a listener Node answers an unknown `Expect` in its own format.
  server.on('checkExpectation', begin);
}
