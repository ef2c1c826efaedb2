import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const CHECK_INTERVAL_MS = 5_000;
const GRACE_MS = 30_000;
const BYTES_PER_SECOND_MIN = 8 * 1024;
const WRITE_STALL_MS = 60_000;

/** The exchange of a connection, until both of its parts are complete, and its progress at the last check. */
export interface CurrentExchange {
  request: IncomingMessage | undefined;
  response: ServerResponse | undefined;
  seen: { at: number; read: number; written: number } | undefined;
}

/**
 * Closes connections that a client keeps open by trickling bytes. A total time limit would cut honest uploads on slow
 * lines, so the body needs a minimum rate after a grace period and the response must make progress.
 */
export function enforceMinimumRate(exchanges: ReadonlyMap<Socket, CurrentExchange>): NodeJS.Timeout {
  return setInterval(() => {
    for (const [socket, current] of exchanges) if (isTooSlow(socket, current, performance.now())) socket.destroy();
  }, CHECK_INTERVAL_MS).unref();
}

/** A body that trickles in after its response also occupies the connection. `now` is monotonic. */
export function isTooSlow(socket: Socket, current: CurrentExchange, now: number): boolean {
  const { request, response } = current;
  if (!request || !response || (response.writableFinished && request.complete)) return false;
  const progress = { at: now, read: socket.bytesRead, written: socket.bytesWritten };
  current.seen ??= progress;
  const { seen } = current;
  const isReading = !request.complete;
  const waited = now - seen.at;
  if (waited < (isReading ? GRACE_MS : WRITE_STALL_MS)) return false;
  current.seen = progress;
  if (isReading) return ((progress.read - seen.read) / waited) * 1000 < BYTES_PER_SECOND_MIN;
  return socket.writableLength > 0 && progress.written === seen.written;
}
