import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const LOOK_MS = 5_000;
const PATIENCE_MS = 30_000;
const BYTES_PER_SECOND_MIN = 8 * 1024;
const WRITE_STALL_MS = 60_000;

/** An exchange on a connection, and how far it had come at the last look. */
export interface Current {
  request: IncomingMessage;
  response: ServerResponse;
  seen: { at: number; read: number; written: number } | undefined;
}

/**
 * Ends connections that a client keeps open by a trickle. A time limit on the whole request would cut honest
 * uploads on slow lines, so what counts is the rate of the body after a time of patience, and that the answer
 * is being taken at all.
 */
export function watchPace(exchanges: ReadonlyMap<Socket, Current>): NodeJS.Timeout {
  return setInterval(() => {
    for (const [socket, current] of exchanges) if (isTooSlow(socket, current, performance.now())) socket.destroy();
  }, LOOK_MS).unref();
}

/** A body that trickles in after its answer holds the connection just as well. `now` never goes back, nor ahead of time. */
export function isTooSlow(socket: Socket, current: Current, now: number): boolean {
  if (current.response.writableFinished && current.request.complete) return false;
  const progress = { at: now, read: socket.bytesRead, written: socket.bytesWritten };
  current.seen ??= progress;
  const { seen } = current;
  const isReading = !current.request.complete;
  const waited = now - seen.at;
  if (waited < (isReading ? PATIENCE_MS : WRITE_STALL_MS)) return false;
  current.seen = progress;
  if (isReading) return ((progress.read - seen.read) / waited) * 1000 < BYTES_PER_SECOND_MIN;
  return socket.writableLength > 0 && progress.written === seen.written;
}
