import type { Socket } from 'node:net';

/** How long remaining input is read after the last response of a connection. */
export interface LingeringLimits {
  /** Maximum idle time while the rest of a body is pending. */
  readonly bodyIdleMs: number;
  /** Maximum idle time when no body is pending. */
  readonly idleMs: number;
  /** Maximum total time. */
  readonly totalMs: number;
  /** Maximum total time while the service shuts down. */
  readonly drainingMs: number;
  /** Maximum total bytes: one part of an upload and some slack. */
  readonly bytesMax: number;
}

export const LINGERING_LIMITS: LingeringLimits = {
  bodyIdleMs: 10_000,
  idleMs: 2_000,
  totalMs: 60_000,
  drainingMs: 2_000,
  bytesMax: 64 * 1024 ** 2,
};

const CHECKS_PER_IDLE = 8;

export interface PendingInput {
  /** True while the rest of a body is pending. */
  isBodyPending(): boolean;
  /** True while the service shuts down. */
  isDraining(): boolean;
}

function endAgain(this: Socket): Socket {
  return this;
}

/**
 * Closes a connection so that the client can still read the response: closing while bytes arrive sends a reset, which
 * discards what the client has not read. Remaining input is read and dropped within limits, so that no client can keep
 * a connection open by sending.
 */
export function closeLingering(socket: Socket, limits: LingeringLimits, pending: PendingInput): void {
  if (socket.writableEnded || socket.destroyed) return;
  socket.end();
  // Node.js ends it again when the client does, and would make an error with a stack trace for that.
  socket.end = endAgain;
  socket.resume();
  const [beganAt, read] = [performance.now(), socket.bytesRead];
  const checkMs = limits.idleMs / CHECKS_PER_IDLE;
  let seen = read;
  let idleChecks = 0;
  const isOver = () => {
    // Counts checks rather than time: a process that was suspended has not checked for new bytes.
    idleChecks = socket.bytesRead === seen ? idleChecks + 1 : 0;
    seen = socket.bytesRead;
    const idleMs = pending.isBodyPending() ? limits.bodyIdleMs : limits.idleMs;
    const totalMs = pending.isDraining() ? limits.drainingMs : limits.totalMs;
    return idleChecks * checkMs >= idleMs || performance.now() - beganAt >= totalMs || seen - read > limits.bytesMax;
  };
  const checking = setInterval(() => {
    if (isOver()) socket.destroy();
  }, checkMs).unref();
  socket.once('close', () => clearInterval(checking));
}
