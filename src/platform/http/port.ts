import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { limitedAddress } from './address.ts';
import { watchFirstBytes } from './first-bytes.ts';
import type { Lingering } from './linger.ts';
import { watchPace } from './pace.ts';
import type { Listener } from './server.ts';
import type { Sockets } from './sockets.ts';
import { Turns } from './turns.ts';

const TLS_HANDSHAKE = 0x16;
const HEADERS_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;
const FIRST_BYTE_TIMEOUT_MS = 15_000;
const HANDSHAKE_TIMEOUT_MS = 15_000;

const SERVER_OPTIONS = {
  headersTimeout: HEADERS_TIMEOUT_MS,
  connectionsCheckingInterval: 2_000,
  // The pace of a body counts instead: see `pace.ts`.
  requestTimeout: 0,
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: 16 * 1024,
  // Node would refuse it in words of its own; `isUnambiguous` does in ours.
  requireHostHeader: false,
  insecureHTTPParser: false,
  // Most requests have no body, and then need no stream for it.
  optimizeEmptyRequests: true,
};

export interface PortOptions {
  readonly listener: Listener;
  /** Without them nothing becomes a WebSocket. */
  readonly sockets?: Sockets;
  readonly tls: {
    key: string;
    cert: string;
    SNICallback?: (name: string, callback: (error: Error | null, context?: SecureContext) => void) => void;
  };
  readonly port: number;
  readonly bind: string | undefined;
  /** As in `linger.ts` unless given. */
  readonly lingering?: Lingering;
  /** How many connections one address may hold; addresses of trusted proxies may hold any number. */
  readonly connectionsMax: (address: string) => number;
}

export interface Port {
  readonly port: number;
  /** Refuses new connections, lets running requests finish, ends what is left after the time given. */
  drain(milliseconds: number): Promise<void>;
}

/** One port for both: a TLS handshake goes to the API, plain HTTP to the same listener, which refuses it unless a proxy vouches. */
export async function openPort(options: PortOptions): Promise<Port> {
  const { sockets } = options;
  const turns = new Turns(options.listener, options.lingering);
  // What does not become a WebSocket is answered as the request that it is.
  const serverOptions = {
    ...SERVER_OPTIONS,
    shouldUpgradeCallback: (request: IncomingMessage) => sockets?.wants(request) === true,
  };
  const secure = createHttpsServer({
    ...serverOptions,
    ...options.tls,
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['http/1.1'],
    handshakeTimeout: HANDSHAKE_TIMEOUT_MS,
  });
  const plain = createHttpServer(serverOptions);
  for (const server of [secure, plain]) prepare(server, turns, sockets);
  const firstBytes = watchFirstBytes(secure, HEADERS_TIMEOUT_MS);
  // The next request may have to be repaired as well, and can be as the first of another connection.
  secure.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    if (firstBytes.wasRepaired(request.socket)) response.shouldKeepAlive = false;
  });
  const connections = new Connections(options.connectionsMax);
  const net = createNetServer({ noDelay: true }, (socket) => {
    if (connections.admit(socket)) sniff(socket, secure, plain);
    else socket.destroy();
  });
  await listening(net, options);
  const pace = watchPace(turns.current);
  return {
    port: (net.address() as AddressInfo).port,
    drain: async (milliseconds) => {
      const closed = new Promise<void>((resolve) => net.close(() => resolve()));
      turns.drain();
      firstBytes.drain();
      sockets?.drain();
      for (const server of [secure, plain]) server.closeIdleConnections();
      const deadline = setTimeout(() => connections.end(), milliseconds);
      await closed;
      clearTimeout(deadline);
      clearInterval(pace);
      for (const server of [secure, plain]) server.close();
    },
  };
}

function listening(net: NetServer, { port, bind }: PortOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    net.once('error', reject);
    net.listen({ port, host: bind }, () => resolve());
  });
}

/** The open connections, and how many of them each address holds. */
class Connections {
  readonly #max: PortOptions['connectionsMax'];
  readonly #sockets = new Set<Socket>();
  readonly #held = new Map<string, number>();

  constructor(max: PortOptions['connectionsMax']) {
    this.#max = max;
  }

  /** Counts the connection, unless its address holds too many. */
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

/** The first byte tells TLS from anything else. */
function sniff(socket: Socket, secure: HttpsServer, plain: HttpServer): void {
  socket.setTimeout(FIRST_BYTE_TIMEOUT_MS, () => socket.destroy());
  socket.on('error', () => socket.destroy());
  socket.once('data', (first: Buffer) => {
    socket.setTimeout(0);
    socket.removeAllListeners('timeout');
    socket.pause();
    socket.unshift(first);
    const isSecure = first[0] === TLS_HANDSHAKE;
    (isSecure ? secure : plain).emit('connection', socket);
    // TLS takes what was put back by itself; the parser of plain HTTP waits for it to flow.
    if (!isSecure) socket.resume();
  });
}

function prepare(server: HttpServer | HttpsServer, turns: Turns, sockets: Sockets | undefined): void {
  const begin = (request: IncomingMessage, response: ServerResponse) => turns.begin(request, response);
  server.on('request', begin);
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) =>
    sockets?.take(request, socket, head),
  );
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => turns.refuse(error, socket));
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  // Without a listener Node answers `Expect` it does not know by itself, in a form that is not ours.
  server.on('checkExpectation', begin);
  // It never listens itself, and only from this event on does Node hold connections to their time limits.
  server.emit('listening');
}
