import { type Connection, isBusy } from './connection.ts';

const GRACE_MS = 30_000;
const BYTES_PER_SECOND_MIN = 8 * 1024;
const WRITE_STALL_MS = 60_000;

/**
 * True for a connection that a client keeps open by trickling bytes. A total time limit would cut honest uploads on slow
 * lines, so the body needs a minimum rate after a grace period and the response must make progress. A body that
 * trickles in after its response also occupies the connection. `now` is monotonic.
 */
export function isTooSlow(connection: Connection, now: number): boolean {
  if (!isBusy(connection)) return false;
  const { socket, response } = connection;
  const progress = { at: now, read: socket.bytesRead, written: socket.bytesWritten };
  connection.seen ??= progress;
  const { seen } = connection;
  const isReading = !response!.req.complete;
  const waited = now - seen.at;
  if (waited < (isReading ? GRACE_MS : WRITE_STALL_MS)) return false;
  connection.seen = progress;
  if (isReading) return ((progress.read - seen.read) / waited) * 1000 < BYTES_PER_SECOND_MIN;
  return socket.writableLength > 0 && progress.written === seen.written;
}
