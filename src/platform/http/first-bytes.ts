import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { withEncodedSpaces } from './request-line.ts';

/** Tracks secure connections until their first request line has been read. */
export interface FirstBytes {
  /** True when the first request line of this connection was repaired. */
  wasRepaired(socket: unknown): boolean;
  /** Closes connections without a request, after a moment in which a request may still arrive. */
  drain(): void;
}

/** A client that has just connected sends its request within this time. */
const DRAIN_MS = 1_000;

/**
 * Reads the first bytes of each TLS connection before the parser and repairs its first request line; the client that
 * needs it opens a connection per request. Plain connections come from a proxy that has parsed the request, so both
 * must read the same bytes.
 */
export function watchFirstBytes(secure: HttpsServer, timeoutMs: number): FirstBytes {
  const [parse] = secure.listeners('secureConnection');
  const waiting = new Set<TLSSocket>();
  const repaired = new WeakSet<object>();
  secure.removeAllListeners('secureConnection');
  secure.on('secureConnection', (socket) => {
    const end = () => socket.destroy();
    const timer = setTimeout(end, timeoutMs);
    waiting.add(socket);
    socket.on('error', end).once('end', end);
    socket.once('close', () => {
      clearTimeout(timer);
      waiting.delete(socket);
    });
    socket.once('data', (bytes: Buffer) => {
      clearTimeout(timer);
      waiting.delete(socket);
      socket.removeListener('error', end).removeListener('end', end);
      const line = withEncodedSpaces(bytes);
      if (line !== bytes) repaired.add(socket);
      parse!.call(secure, socket);
      // Before this read continues: it may decrypt several records, and the parser gets the following ones directly.
      socket.emit('data', line);
    });
  });
  return {
    wasRepaired: (socket) => repaired.has(socket as object),
    drain: () => {
      if (waiting.size > 0) setTimeout(() => waiting.forEach((socket) => void socket.destroy()), DRAIN_MS);
    },
  };
}
