import type { ServerResponse } from 'node:http';
import { type Connection, isSilent, isWaiting } from './connection.ts';
import { isTooSlow } from './minimum-rate.ts';

const CHECK_INTERVAL_MS = 2_000;
const REQUEST_MS = 15_000;
const KEEP_ALIVE_MS = 65_000;
/** A request that is on its way when the announced time ends is still answered. */
const KEEP_ALIVE_SLACK_MS = 1_000;

/**
 * Ends connections that wait too long for a request, or are too slow with one; calls `refuse` if it has begun to arrive.
 * Node.js would set and clear a timer for each request and sort its list of connections three times, which costs a tenth
 * of a cached response.
 */
export function enforceTimeouts(
  connections: Iterable<Connection>,
  refuse: (connection: Connection) => void,
): NodeJS.Timeout {
  const check = () => {
    for (const connection of connections)
      if (isTooSlow(connection, performance.now())) connection.socket.destroy();
      else if (isTooLate(connection))
        if (connection.checksOfHead > 0) refuse(connection);
        else connection.socket.destroy();
  };
  return setInterval(check, CHECK_INTERVAL_MS).unref();
}

/** True if the next request has not arrived in time. */
function isTooLate(connection: Connection): boolean {
  if (!isWaiting(connection)) return false;
  if (isSilent(connection)) {
    connection.checks += 1;
    return lasted(connection.checks, connection.hasServed ? KEEP_ALIVE_MS + KEEP_ALIVE_SLACK_MS : REQUEST_MS);
  }
  connection.checksOfHead += 1;
  return lasted(connection.checksOfHead, REQUEST_MS);
}

/** The first of these checks may have come at once. */
const lasted = (checks: number, milliseconds: number): boolean => (checks - 1) * CHECK_INTERVAL_MS >= milliseconds;

/** Tells the client how long the connection is kept: Node.js does so only for a timeout that it enforces itself. */
export function announceKeepAlive(response: ServerResponse): void {
  (response as { _keepAliveTimeout?: number })._keepAliveTimeout = KEEP_ALIVE_MS;
}
