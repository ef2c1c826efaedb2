import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ApiError } from '../errors/catalogue.ts';
import { COMMON_HEADERS, errorBody } from './answer.ts';
import { beginExchange, type Connection, connectionOf, forgetExchange, isSilent, newConnection } from './connection.ts';
import { closeLingering, LINGERING_LIMITS, type LingeringLimits } from './lingering-close.ts';
import type { Listener } from './server.ts';

/** A client that has just connected sends its request within this time. */
const DRAIN_MS = 1_000;

/** Allows one exchange at a time per connection. */
export class SequentialExchanges {
  readonly #listener: Listener;
  readonly connections = new Set<Connection>();
  readonly #lingering: LingeringLimits;
  /** Responses after which the connection closes. Surplus bytes may request it repeatedly. */
  readonly #last = new WeakSet<ServerResponse>();
  /** Of all sockets: V8 allocates a function literal that is assigned to a property where only full collections free it. */
  readonly #destroySoon: (this: Socket) => void;
  #draining = false;

  constructor(listener: Listener, lingering: LingeringLimits = LINGERING_LIMITS) {
    this.#listener = listener;
    this.#lingering = lingering;
    const exchanges = this;
    this.#destroySoon = function (this: Socket) {
      exchanges.#close(this);
    };
  }

  /** Tracks a connection from now on, which waits for its first request. */
  expect(socket: Socket): Connection {
    const connection = newConnection(socket);
    this.connections.add(connection);
    socket.once('close', () => {
      this.connections.delete(connection);
      connection.response = undefined;
    });
    return connection;
  }

  /** Leaves a connection to another protocol. */
  leave(socket: Socket): void {
    const connection = connectionOf(socket);
    if (connection) this.connections.delete(connection);
  }

  /**
   * Rejects pipelined requests: bytes before the response are surplus of shipped clients (docs/API-QUIRKS.md, 2) or
   * request smuggling. Nothing after a response with `Connection: close` is a request either.
   */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const connection = connectionOf(socket) ?? this.expect(socket);
    const previous = connection.response;
    if (previous && !(previous.writableEnded && previous.shouldKeepAlive)) return void this.#endAfter(previous, socket);
    if (!connection.hasServed) socket.destroySoon = this.#destroySoon;
    beginExchange(connection, response);
    response.on('close', forgetFinished);
    if (this.#draining) response.shouldKeepAlive = false;
    this.#listener(request, response);
  }

  /** Closes each connection after its current response, and a new one after a moment if no request arrives. */
  drain(): void {
    this.#draining = true;
    for (const connection of this.connections) {
      const { socket, response, hasServed } = connection;
      if (response && !response.writableFinished) this.#endAfter(response, socket);
      else if (hasServed && isSilent(connection)) socket.destroy();
    }
    setTimeout(() => this.#endSilent(), DRAIN_MS).unref();
  }

  #endSilent(): void {
    for (const connection of this.connections) if (isSilent(connection)) connection.socket.destroy();
  }

  /**
   * Answers unreadable input with an error object. If a complete request came before it, that request's response is
   * sent instead.
   */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const response = connectionOf(socket)?.response;
    if (response && !response.writableFinished && (response.req.complete || response.headersSent))
      return void this.#endAfter(response, socket);
    if (response?.writableFinished && !response.shouldKeepAlive) return;
    if (socket.destroyed || !socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
    socket.write(rawRefusal());
    this.#linger(socket);
  }

  #endAfter(response: ServerResponse, socket: Socket): void {
    response.shouldKeepAlive = false;
    if (this.#last.has(response)) return;
    this.#last.add(response);
    if (response.writableFinished) this.#linger(socket);
    else response.once('finish', () => this.#linger(socket));
  }

  #close(socket: Socket): void {
    const request = connectionOf(socket)?.response?.req;
    if (request && isLastInput(request)) Socket.prototype.destroySoon.call(socket);
    else this.#linger(socket);
  }

  #linger(socket: Socket): void {
    // Nobody reads the body any more, and its buffered bytes would block what follows.
    connectionOf(socket)?.response?.req.resume();
    closeLingering(socket, this.#lingering, {
      isBodyPending: () => connectionOf(socket)?.response?.req.complete === false,
      isDraining: () => this.#draining,
    });
  }
}

function forgetFinished(this: ServerResponse): void {
  const connection = connectionOf(this.req.socket);
  if (connection?.response === this && this.shouldKeepAlive && this.req.complete) forgetExchange(connection);
}

/** True if the client has announced that nothing follows. After bodies some clients send surplus bytes all the same. */
const isLastInput = ({ complete, headers }: IncomingMessage): boolean =>
  complete &&
  headers.connection?.toLowerCase() === 'close' &&
  headers['content-length'] === undefined &&
  headers['transfer-encoding'] === undefined;

function rawRefusal(): string {
  const body = JSON.stringify(errorBody(new ApiError('REQUEST_MALFORMED'), 'en'));
  const headers = [...COMMON_HEADERS, 'content-length', String(Buffer.byteLength(body)), 'connection', 'close'];
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
  return `HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}
