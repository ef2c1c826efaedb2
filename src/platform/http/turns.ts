import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ApiError } from '../errors/catalogue.ts';
import { COMMON_HEADERS, errorBody } from './answer.ts';
import { LINGERING, type Lingering, linger } from './linger.ts';
import type { Current } from './pace.ts';
import type { Listener } from './server.ts';

/** Keeps to one exchange at a time per connection, and knows which are under way. */
export class Turns {
  readonly #listener: Listener;
  readonly current = new Map<Socket, Current>();
  readonly #lingering: Lingering;
  /** Answers with which their connection ends. Surplus bytes may say so many times. */
  readonly #last = new WeakSet<ServerResponse>();
  #draining = false;

  constructor(listener: Listener, lingering: Lingering = LINGERING) {
    this.#listener = listener;
    this.#lingering = lingering;
  }

  /**
   * Bytes that follow a request before its answer are not another request: shipped clients send surplus
   * after a body (docs/API-QUIRKS.md, 2), smugglers do it on purpose, and nobody else pipelines. Nor is anything
   * a request that follows an answer which said that the connection closes.
   */
  begin(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    const current = this.current.get(socket);
    const previous = current?.response;
    if (previous && !(previous.writableEnded && previous.shouldKeepAlive)) return void this.#endAfter(previous, socket);
    if (current) goOn(current, request, response);
    else this.#meet(socket, { request, response, seen: undefined });
    if (this.#draining) response.shouldKeepAlive = false;
    this.#listener(request, response);
  }

  #meet(socket: Socket, current: Current): void {
    this.current.set(socket, current);
    socket.once('close', () => this.current.delete(socket));
    socket.destroySoon = () => this.#linger(socket);
  }

  /** From now on each answer is the last of its connection. */
  drain(): void {
    this.#draining = true;
    for (const [socket, { response }] of this.current) if (!response.writableFinished) this.#endAfter(response, socket);
  }

  /**
   * What cannot be read is answered as an error object. Where that is only what follows a whole request, or the
   * request has its answer already, the answer is let out instead.
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

  #linger(socket: Socket): void {
    // Whoever had begun to read the body reads no more, and what waits there would hold up what follows.
    this.current.get(socket)?.request.resume();
    linger(socket, this.#lingering, {
      isAwaited: () => this.current.get(socket)?.request.complete === false,
      isHurried: () => this.#draining,
    });
  }
}

function rawRefusal(): string {
  const body = JSON.stringify(errorBody(new ApiError('REQUEST_MALFORMED'), 'en'));
  const headers = [...COMMON_HEADERS, 'content-length', String(Buffer.byteLength(body)), 'connection', 'close'];
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
  return `HTTP/1.1 400 Bad Request\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
}

function goOn(current: Current, request: IncomingMessage, response: ServerResponse): void {
  current.request = request;
  current.response = response;
  current.seen = undefined;
}
