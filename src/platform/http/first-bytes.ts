import type { Server as HttpsServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { withEncodedSpaces } from './request-line.ts';

/**
 * Reads the first bytes of each TLS connection before the parser and repairs its first request line; the client that
 * needs it opens a connection per request. Plain connections come from a proxy that has parsed the request, so both
 * must read the same bytes. Returns whether the first request line of a connection was repaired.
 */
export function watchFirstBytes(secure: HttpsServer, expect: (socket: TLSSocket) => void): (socket: object) => boolean {
  const [parse] = secure.listeners('secureConnection');
  const repaired = new WeakSet<object>();
  secure.removeAllListeners('secureConnection');
  secure.on('secureConnection', (socket) => {
    const end = () => socket.destroy();
    expect(socket);
    socket.on('error', end).once('end', end);
    socket.once('data', (bytes: Buffer) => {
      socket.removeListener('error', end).removeListener('end', end);
      const line = withEncodedSpaces(bytes);
      if (line !== bytes) repaired.add(socket);
      parse!.call(secure, socket);
      // Before this read continues: it may decrypt several records, and the parser gets the following ones directly.
      socket.emit('data', line);
    });
  });
  return (socket) => repaired.has(socket);
}
