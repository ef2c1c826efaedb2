import { once } from 'node:events';
import { ApiError } from '../errors/catalogue.ts';
import type { Exchange, Tenant } from './exchange.ts';
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

/** More than a person opens in all their browsers; each costs a connection and a query after every change. */
const STREAMS_PER_USER_MAX = 32;
const RETRY = { retryAfterSeconds: 60 };

const openStreams = new WeakMap<Tenant, Map<number, number>>();

function streamsOf(tenant: Tenant): Map<number, number> {
  const known = openStreams.get(tenant) ?? new Map<number, number>();
  openStreams.set(tenant, known);
  return known;
}

/** Refuses a user who has too many streams open in this process. */
export function requireStreamPlace({ caller, tenant }: Exchange): void {
  if (caller.kind !== 'user') return;
  if ((streamsOf(tenant).get(caller.userId) ?? 0) >= STREAMS_PER_USER_MAX) throw new ApiError('RATE_LIMITED', RETRY);
}

/** Counts a stream of the user until the result is called. */
function takeStreamPlace({ caller, tenant }: Exchange): () => void {
  if (caller.kind !== 'user') return () => {};
  const { userId } = caller;
  const streams = streamsOf(tenant);
  streams.set(userId, (streams.get(userId) ?? 0) + 1);
  return () => {
    const others = streams.get(userId)! - 1;
    if (others > 0) streams.set(userId, others);
    else streams.delete(userId);
  };
}

/**
 * Streams until the client disconnects, the caller loses access or the service shuts down. Each part is requested after
 * the previous one was sent, so a slow client costs no memory.
 */
export async function sendStream(
  exchange: Exchange,
  { parts }: Stream,
  draining: AbortSignal,
  requireKnown: () => unknown,
): Promise<void> {
  const { request, response, headers } = exchange;
  response.shouldKeepAlive = false;
  response.writeHead(200, [...HEADERS, ...headers]);
  if (request.method === 'HEAD') return void response.end();
  const leave = takeStreamPlace(exchange);
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
    leave();
  }
  response.end();
}
