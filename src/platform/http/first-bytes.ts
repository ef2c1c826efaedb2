import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { withEncodedSpaces } from './request-line.ts';

/** Connections whose client has sent nothing yet. */
export interface FirstBytes {
  /** Whether the first request of this connection had to be repaired. */
  wasRepaired(socket: unknown): boolean;
  drain(): void;
}

/**
 * Looks at the first bytes of each secure connection before the parser does, and repairs the line of its first request.
 * The client that needs it opens a connection for each request. A proxy's plain connections are left alone: it has read
 * the request itself, and both must have read the same.
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
      socket.pause();
      const line = withEncodedSpaces(bytes);
      if (line !== bytes) repaired.add(socket);
      socket.unshift(line);
      // One read may decrypt several records. Handed over before the last, the parser would get them before the first.
      setImmediate(() => {
        waiting.delete(socket);
        if (socket.destroyed) return;
        socket.removeListener('error', end).removeListener('end', end);
        parse!.call(secure, socket);
        socket.resume();
      });
    });
  });
  return {
    wasRepaired: (socket) => repaired.has(socket as object),
    drain: () => waiting.forEach((socket) => void socket.destroy()),
  };
}
