import { once } from 'node:events';
import { ApiError } from '../errors/catalogue.ts';
import type { Exchange } from './exchange.ts';
import type { Stream } from './operation.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

/** Proxies close idle connections, often after a minute. */
const HEARTBEAT_MS = 15_000;
const HEARTBEAT = ':\n\n';
const RECONNECT = 'retry: 3000\n\n';

const HEADERS: readonly string[] = [
  'content-type',
  'text/event-stream; charset=utf-8',
  'cache-control',
  'private, no-store',
  'x-accel-buffering',
  'no',
  ...SECURITY_HEADERS,
];

/**
 * Streams until the client disconnects, the caller loses access or the service shuts down. Each part is requested after
 * the previous one was sent, so a slow client costs no memory.
 */
export async function sendStream(
  { request, response, headers }: Exchange,
  { parts }: Stream,
  draining: AbortSignal,
  requireKnown: () => unknown,
): Promise<void> {
  response.shouldKeepAlive = false;
  response.writeHead(200, [...HEADERS, ...headers]);
  if (request.method === 'HEAD') return void response.end();
  response.write(RECONNECT);
  const over = new AbortController();
  const end = () => over.abort();
  response.once('close', end);
  draining.addEventListener('abort', end);
  if (draining.aborted) end();
  const heartbeat = setInterval(async () => {
    try {
      await requireKnown();
      if (!response.writableNeedDrain) response.write(HEARTBEAT);
    } catch {
      end();
    }
  }, HEARTBEAT_MS);
  try {
    for await (const text of parts(over.signal)) {
      await requireKnown();
      if (!response.write(text)) await once(response, 'drain', { signal: over.signal });
    }
  } catch (error) {
    if (!over.signal.aborted && !(error instanceof ApiError)) throw error;
  } finally {
    clearInterval(heartbeat);
    draining.removeEventListener('abort', end);
  }
  response.end();
}
