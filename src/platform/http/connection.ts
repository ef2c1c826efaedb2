import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Connection {
  readonly socket: Socket;
  /** Of the current exchange, until its request and its response are complete. */
  response: ServerResponse | undefined;
  /** Progress of the exchange at an earlier check. */
  seen: Progress | undefined;
  /** True after its first request. */
  hasServed: boolean;
  /** Bytes of earlier requests, once their exchanges are complete. */
  bytesBefore: number | undefined;
  /** Checks that found nothing of its next request. Counted rather than timed: a suspended process has not checked. */
  checks: number;
  /** Checks that found a part of its headers. */
  checksOfHead: number;
}

export interface Progress {
  readonly at: number;
  readonly read: number;
  readonly written: number;
}

/** A property of the socket, because the entries of a map are in other memory, which each request would fetch. */
const CONNECTION = Symbol('connection');
type KnownSocket = Socket & { [CONNECTION]?: Connection };

export function newConnection(socket: KnownSocket): Connection {
  const connection: Connection = {
    socket,
    response: undefined,
    seen: undefined,
    hasServed: false,
    bytesBefore: 0,
    checks: 0,
    checksOfHead: 0,
  };
  socket[CONNECTION] = connection;
  return connection;
}

export const connectionOf = (socket: KnownSocket): Connection | undefined => socket[CONNECTION];

export function beginExchange(connection: Connection, response: ServerResponse): void {
  connection.response = response;
  connection.seen = undefined;
  connection.hasServed = true;
  connection.bytesBefore = undefined;
  connection.checks = 0;
  connection.checksOfHead = 0;
}

/** A thousand connections that wait for their next request would keep a thousand past ones in memory. */
export function forgetExchange(connection: Connection): void {
  connection.response = undefined;
  connection.bytesBefore = connection.socket.bytesRead;
}

/** True while an exchange is under way. */
export const isBusy = ({ response }: Connection): boolean =>
  response !== undefined && !(response.writableFinished && response.req.complete);

/** True between two exchanges, and before the first one, unless the connection is about to close. */
export const isWaiting = (connection: Connection): boolean => !connection.socket.writableEnded && !isBusy(connection);

/** True for a connection that waits and has got nothing of its next request. */
export function isSilent(connection: Connection): boolean {
  if (!isWaiting(connection)) return false;
  const { bytesRead } = connection.socket;
  connection.bytesBefore ??= bytesRead;
  return bytesRead === connection.bytesBefore;
}
