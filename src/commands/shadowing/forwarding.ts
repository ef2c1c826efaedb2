import { type IncomingMessage, Agent as PlainAgent, request as plainRequest, type ServerResponse } from 'node:http';
import { Agent as TlsAgent, request as tlsRequest } from 'node:https';

/** Headers of one connection (RFC 9110, section 7.6.1). */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
  ...['te', 'trailer', 'transfer-encoding', 'upgrade'],
]);

/** The raw headers without those of the connection, in their order and spelling. */
export function endToEnd(rawHeaders: readonly string[]): string[] {
  const named = new Set<string>();
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]!.toLowerCase() === 'connection')
      for (const name of rawHeaders[i + 1]!.split(',')) named.add(name.trim().toLowerCase());
  const kept: string[] = [];
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!.toLowerCase();
    if (!HOP_BY_HOP.has(name) && !named.has(name)) kept.push(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  return kept;
}

/** What the old service answered to a read that may be compared. */
export interface Answered {
  readonly target: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly status: number;
  readonly encoding: string | undefined;
  readonly body: Buffer;
}

const CAPTURED_BYTES_MAX = 1024 * 1024;

export interface Forwarder {
  forward(request: IncomingMessage, response: ServerResponse): void;
  close(): void;
}

/** Sends every request to the old service and its answer back as it arrives. Calls `answered` after a JSON read. */
export function createForwarder(old: URL, answered: (read: Answered) => void): Forwarder {
  const isTls = old.protocol === 'https:';
  const agent = isTls ? new TlsAgent({ keepAlive: true }) : new PlainAgent({ keepAlive: true });
  const send = isTls ? tlsRequest : plainRequest;

  function forward(request: IncomingMessage, response: ServerResponse): void {
    const headers = endToEnd(request.rawHeaders).filter(
      (_, index, all) => all[index - (index % 2)]!.toLowerCase() !== 'host',
    );
    // A body of unknown length stays chunked.
    const framing = request.headers['transfer-encoding'] === undefined ? [] : ['transfer-encoding', 'chunked'];
    const onwards = send({
      agent,
      host: old.hostname,
      port: old.port || (isTls ? 443 : 80),
      method: request.method!,
      path: request.url!,
      headers: ['host', old.host, ...headers, ...framing],
    });
    const fail = () => {
      onwards.destroy();
      if (response.headersSent) return void response.destroy();
      const text = JSON.stringify({
        error: { code: 502, error_ref: 10_000, message: 'The old service cannot be reached.' },
      });
      response.writeHead(502, { 'content-type': 'application/json', 'content-length': String(text.length) }).end(text);
    };
    onwards.on('error', fail);
    request.on('error', () => onwards.destroy());
    response.on('close', () => {
      if (!response.writableFinished) onwards.destroy();
    });
    onwards.on('response', (incoming) => answer(request, response, incoming, fail));
    request.pipe(onwards);
  }

  function answer(
    request: IncomingMessage,
    response: ServerResponse,
    incoming: IncomingMessage,
    fail: () => void,
  ): void {
    response.sendDate = false;
    response.writeHead(incoming.statusCode!, incoming.statusMessage, endToEnd(incoming.rawHeaders));
    const captured = isComparable(request, incoming) ? new Captured() : undefined;
    incoming.on('data', (chunk: Buffer) => captured?.add(chunk));
    incoming.on('error', fail);
    incoming.on('end', () => {
      const body = captured?.whole();
      if (body)
        answered({
          target: request.url!,
          headers: request.headers,
          status: incoming.statusCode!,
          encoding: incoming.headers['content-encoding'],
          body,
        });
    });
    incoming.pipe(response);
  }

  return { forward, close: () => agent.destroy() };
}

const isComparable = (request: IncomingMessage, incoming: IncomingMessage): boolean =>
  request.method === 'GET' &&
  incoming.statusCode! < 500 &&
  incoming.statusCode !== 429 &&
  incoming.statusCode !== 304 &&
  /json/.test(incoming.headers['content-type'] ?? '');

/** The body of an answer, unless it is too large to be kept. */
class Captured {
  #chunks: Buffer[] | undefined = [];
  #bytes = 0;

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    if (this.#bytes > CAPTURED_BYTES_MAX) this.#chunks = undefined;
    this.#chunks?.push(chunk);
  }

  whole = (): Buffer | undefined => this.#chunks && Buffer.concat(this.#chunks);
}
