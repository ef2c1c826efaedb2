import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ApiError } from '../errors/catalogue.ts';
import { COMMON_HEADERS, errorBody } from './answer.ts';
import { closeLingering, LINGERING_LIMITS, type LingeringLimits } from './lingering-close.ts';
import type { CurrentExchange } from './minimum-rate.ts';
import type { Listener } from './server.ts';

/** Allows one exchange at a time per connection and tracks the current ones. */
export class SequentialExchanges {
  readonly #listener: Listener;
  readonly current = new Map<Socket, CurrentExchange>();
  readonly #lingering: LingeringLimits;
  /** Responses after which the connection closes. Surplus bytes may request it repeatedly. */
  readonly #last = new WeakSet<ServerResponse>();
  /** A thousand connections that wait for their next request would keep a thousand past ones in memory. */
  readonly #forgetFinished: (this: ServerResponse) => void;
  #draining = false;

  constructor(listener: Listener, lingering: LingeringLimits = LINGERING_LIMITS) {
    this.#listener = listener;
    this.#lingering = lingering;
    const { current } = this;
    this.#forgetFinished = function (this: ServerResponse) {
      const exchange = current.get(this.req.socket);
      if (exchange?.response !== this || !this.shouldKeepAlive || !this.req.complete) return;
      exchange.request = undefined;
      exchange.response = undefined;
    };
  }

  /**
   * Rejects pipelined requests: bytes before the response are surplus of shipped clients (docs/API-QUIRKS.md, 2) or
   * request smuggling. Nothing after a response with `Connection: close` is a request either.
   */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const current = this.current.get(socket);
    const previous = current?.response;
    if (previous && !(previous.writableEnded && previous.shouldKeepAlive)) return void this.#endAfter(previous, socket);
    if (current) replaceExchange(current, request, response);
    else this.#track(socket, { request, response, seen: undefined });
    response.on('close', this.#forgetFinished);
    if (this.#draining) response.shouldKeepAlive = false;
    this.#listener(request, response);
  }

  #track(socket: Socket, current: CurrentExchange): void {
    this.current.set(socket, current);
    socket.once('close', () => this.current.delete(socket));
    socket.destroySoon = () => this.#close(socket);
  }

  /** Closes each connection after its current response. */
  drain(): void {
    this.#draining = true;
    for (const [socket, { response }] of this.current)
      if (response && !response.writableFinished) this.#endAfter(response, socket);
  }

  /**
   * Answers unreadable input with an error object. If a complete request came before it, that request's response is
   * sent instead.
   */
  refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    const { request, response } = this.current.get(socket) ?? {};
    if (response && !response.writableFinished && (request?.complete || response.headersSent))
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
    const { request } = this.current.get(socket) ?? {};
    if (request && isLastInput(request)) Socket.prototype.destroySoon.call(socket);
    else this.#linger(socket);
  }

  #linger(socket: Socket): void {
    // Nobody reads the body any more, and its buffered bytes would block what follows.
    this.current.get(socket)?.request?.resume();
    closeLingering(socket, this.#lingering, {
      isBodyPending: () => this.current.get(socket)?.request?.complete === false,
      isDraining: () => this.#draining,
    });
  }
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

function replaceExchange(current: CurrentExchange, request: IncomingMessage, response: ServerResponse): void {
  current.request = request;
  current.response = response;
  current.seen = undefined;
}
