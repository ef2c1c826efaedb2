import {
  createServer as createHttpServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttpsServer, type Server as HttpsServer } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { ApiError } from '../errors/catalogue.ts';
import { COMMON_HEADERS, errorBody } from './answer.ts';
import { type Current, watchPace } from './pace.ts';
import type { Listener } from './server.ts';

const TLS_HANDSHAKE = 0x16;
const HEADERS_TIMEOUT_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;
const FIRST_BYTE_TIMEOUT_MS = 15_000;
const HEADER_BYTES_MAX = 16 * 1024;

export interface PortOptions {
  readonly listener: Listener;
  readonly tls: {
    key: string;
    cert: string;
    SNICallback?: (name: string, callback: (error: Error | null, context?: SecureContext) => void) => void;
  };
  readonly port: number;
  readonly bind: string | undefined;
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
  const exchanges = new Exchanges(options.listener);
  const listener = (request: IncomingMessage, response: ServerResponse) => exchanges.begin(request, response);
  const settings = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: 0,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    requireHostHeader: false,
    insecureHTTPParser: false,
  };
  const secure = createHttpsServer(
    { ...settings, ...options.tls, minVersion: 'TLSv1.2', ALPNProtocols: ['http/1.1'] },
    listener,
  );
  const plain = createHttpServer(settings, listener);
  for (const server of [secure, plain]) prepare(server, exchanges);
  const sockets = new Set<Socket>();
  const held = new Map<string, number>();
  const net = createNetServer({ pauseOnConnect: false, noDelay: true }, (socket) => admit(socket));
  const pace = watchPace(exchanges.current);

  function admit(socket: Socket): void {
    const address = socket.remoteAddress ?? '';
    const count = (held.get(address) ?? 0) + 1;
    if (count > options.connectionsMax(address)) return void socket.destroy();
    held.set(address, count);
    sockets.add(socket);
    socket.once('close', () => {
      sockets.delete(socket);
      const left = (held.get(address) ?? 1) - 1;
      if (left > 0) held.set(address, left);
      else held.delete(address);
    });
    sniff(socket, secure, plain);
  }

  await new Promise<void>((resolve, reject) => {
    net.once('error', reject);
    net.listen({ port: options.port, host: options.bind }, () => resolve());
  });
  return {
    port: (net.address() as AddressInfo).port,
    drain: async (milliseconds) => {
      const closed = new Promise<void>((resolve) => net.close(() => resolve()));
      exchanges.drain();
      for (const server of [secure, plain]) server.closeIdleConnections();
      const deadline = setTimeout(() => sockets.forEach((socket) => void socket.destroy()), milliseconds);
      await closed;
      clearTimeout(deadline);
      clearInterval(pace);
      secure.close();
      plain.close();
    },
  };
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
    (first[0] === TLS_HANDSHAKE ? secure : plain).emit('connection', socket);
  });
}

function prepare(server: HttpServer | HttpsServer, exchanges: Exchanges): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => exchanges.refuse(error, socket));
  server.on('tlsClientError', (_error: Error, socket: Socket) => socket.destroy());
  // Without a listener Node answers `Expect` it does not know by itself, in a form that is not ours.
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    exchanges.begin(request, response),
  );
}

/** Keeps to one exchange at a time per connection, and knows which are under way. */
class Exchanges {
  readonly #listener: Listener;
  readonly current = new Map<Socket, Current>();
  #draining = false;

  constructor(listener: Listener) {
    this.#listener = listener;
  }

  /**
   * Bytes that follow a request before its answer are not another request: shipped clients send surplus
   * after a body (`clients.md`, 2), smugglers do it on purpose, and nobody else pipelines.
   */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const previous = this.current.get(socket);
    if (previous && !previous.response.writableEnded) return endAfter(previous.response, socket);
    if (!previous) socket.once('close', () => this.current.delete(socket));
    this.current.set(socket, { request, response, seen: undefined });
    if (this.#draining) response.shouldKeepAlive = false;
    this.#listener(request, response);
  }

  drain(): void {
    this.#draining = true;
  }

  /** An answer under way is let out whole; otherwise what cannot be read is answered as an error object. */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const current = this.current.get(socket)?.response;
    if (current && !current.writableFinished) return endAfter(current, socket);
    if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    socket.end(rawRefusal(), () => socket.destroy());
  }
}

function endAfter(response: ServerResponse, socket: Socket): void {
  response.shouldKeepAlive = false;
  if (response.writableFinished) socket.destroySoon();
  else response.once('finish', () => socket.destroySoon());
}

function rawRefusal(): string {
  const body = JSON.stringify(errorBody(new ApiError('REQUEST_MALFORMED'), 'en'));
  const headers = [...COMMON_HEADERS, 'content-length', String(Buffer.byteLength(body)), 'connection', 'close'];
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
  return `HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
