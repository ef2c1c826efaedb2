import type { Socket } from 'node:net';

/** How long what a client still sends is read after the last answer of its connection. */
export interface Lingering {
  /** Without a byte, while the rest of a body is awaited. */
  readonly bodyIdleMs: number;
  /** Without a byte, where nothing more is awaited. */
  readonly idleMs: number;
  /** In all, however steadily it comes. */
  readonly totalMs: number;
  /** The same in a service that is about to end. */
  readonly hurriedMs: number;
  /** In all: a part of an upload, and some. */
  readonly bytesMax: number;
}

export const LINGERING: Lingering = {
  bodyIdleMs: 10_000,
  idleMs: 2_000,
  totalMs: 60_000,
  hurriedMs: 2_000,
  bytesMax: 64 * 1024 ** 2,
};

const LOOKS_PER_IDLE = 8;

export interface Left {
  /** Whether the rest of a body is awaited. */
  isAwaited(): boolean;
  /** Whether the service is about to end. */
  isHurried(): boolean;
}

/**
 * Ends a connection so that the client gets to read the answer: to close it while bytes are coming in resets it, and a
 * reset takes along what the client has not read yet. Many clients read nothing before they have sent all, so as long as
 * something comes it is read and thrown away, within limits: nobody holds a connection by sending what nobody wants.
 */
export function linger(socket: Socket, limits: Lingering, left: Left): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end();
  socket.resume();
  const [beganAt, read] = [performance.now(), socket.bytesRead];
  const lookMs = limits.idleMs / LOOKS_PER_IDLE;
  let seen = read;
  let idleLooks = 0;
  const isOver = () => {
    // Looks are counted, and not time: a process that stood still has not looked at what came meanwhile.
    idleLooks = socket.bytesRead === seen ? idleLooks + 1 : 0;
    seen = socket.bytesRead;
    const idleMs = left.isAwaited() ? limits.bodyIdleMs : limits.idleMs;
    const totalMs = left.isHurried() ? limits.hurriedMs : limits.totalMs;
    return idleLooks * lookMs >= idleMs || performance.now() - beganAt >= totalMs || seen - read > limits.bytesMax;
  };
  const looking = setInterval(() => {
    if (isOver()) socket.destroy();
  }, lookMs).unref();
  socket.once('close', () => clearInterval(looking));
}
