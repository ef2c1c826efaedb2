import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { Caller } from '../access/caller.ts';
import type { Exchange } from './exchange.ts';

type Body = ConstructorParameters<typeof Response>[0];

/** Headers of the page's own request that hold for the requests it makes, as its language does. */
const CARRIED = /^(?:user-agent|x-[a-z]+-(?:platform|portal))$/;

/**
 * The exchange of an API request that a page makes inside the process. It has the client's address and environment,
 * and the page's visitor as its caller, whatever credentials the request carries.
 */
export function inProcessExchange(page: Exchange, request: Request, visitor: Caller, id: string) {
  const { pathname, search } = new URL(request.url);
  const incoming = incomingOf(page, request, pathname + search);
  const response = new InProcessResponse();
  const exchange: Exchange = {
    request: incoming,
    response: response as unknown as ServerResponse,
    id,
    started: performance.now(),
    secure: true,
    path: pathname,
    search: search.slice(1),
    scope: { environment: page.scope.environment },
    tenant: page.tenant,
    ip: page.ip,
    headers: ['x-request-id', id],
    language: page.language,
    caller: visitor,
    operation: undefined,
    visitor,
    findVisitor: page.findVisitor,
  };
  return { exchange, answer: response.answer };
}

function incomingOf(page: Exchange, request: Request, url: string): IncomingMessage {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(page.request.headers))
    if (CARRIED.test(name) && value !== undefined) headers[name] = String(value);
  headers['accept-language'] = page.language;
  for (const [name, value] of request.headers) headers[name] = value;
  // Neither a credential nor an origin: the visitor is the caller, and the page is the service's own.
  for (const name of ['authorization', 'cookie', 'origin', 'accept-encoding']) delete headers[name];
  if (request.body && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked';
  const body = request.body ? Readable.fromWeb(request.body as WebStream) : Readable.from([]);
  const incoming = Object.assign(body, {
    method: request.method,
    url,
    headers,
    rawHeaders: Object.entries(headers).flat(),
    httpVersion: '1.1',
    socket: page.request.socket,
    complete: request.body === null,
  });
  body.once('end', () => Object.assign(incoming, { complete: true }));
  return incoming as unknown as IncomingMessage;
}

/** The part of `ServerResponse` that handlers use. A body sent at once becomes the answer without a stream. */
class InProcessResponse extends PassThrough {
  statusCode = 200;
  headersSent = false;
  shouldKeepAlive = true;
  readonly answer: Promise<Response>;
  readonly #headers = new Headers();
  #resolve!: (answer: Response) => void;
  #isAnswered = false;

  constructor() {
    super();
    this.answer = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    // A destroyed response without an answer is one whose client is gone.
    this.once('close', () => this.#answer(null, 499));
  }

  writeHead(status: number, headers: readonly string[]): this {
    this.statusCode = status;
    this.headersSent = true;
    for (let i = 0; i < headers.length; i += 2)
      if (headers[i] !== 'content-length') this.#headers.append(headers[i]!, headers[i + 1]!);
    return this;
  }

  override write(...values: unknown[]): boolean {
    if (!this.#isAnswered) this.#answer(Readable.toWeb(this) as unknown as Body);
    return super.write(...(values as [string]));
  }

  override end(...values: unknown[]): this {
    const [body] = values;
    if (this.#isAnswered || typeof body === 'function') return super.end(...(values as []));
    const isBytes = typeof body === 'string' || Buffer.isBuffer(body);
    // Copied, because the sender frees its bytes after they were sent.
    this.#answer(isBytes && body.length > 0 ? (typeof body === 'string' ? body : new Uint8Array(body)) : null);
    const done = values.find((value) => typeof value === 'function') as (() => void) | undefined;
    super.end(done);
    this.resume();
    return this;
  }

  #answer(body: Body | null, status = this.statusCode): void {
    if (this.#isAnswered) return;
    this.#isAnswered = true;
    const isEmpty = status === 204 || status === 304;
    this.#resolve(new Response(isEmpty ? null : body, { status, headers: this.#headers }));
  }
}
