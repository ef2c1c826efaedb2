import { hkdfSync } from 'node:crypto';

/** The key of session tickets changes once a day, at the same time on all machines. */
const ROTATION_SECONDS = 86_400;
const KEY_BYTES = 48;

/** Clients may return for this long without a full handshake, but not beyond the next rotation. */
export const TICKET_SECONDS = ROTATION_SECONDS;

export interface SessionTickets {
  /** The key of this day, derived from the secret that all processes and machines of the service share. */
  key(): Buffer;
  /** Calls back with the new key at each rotation, until the result is called. */
  rotate(use: (key: Buffer) => void): () => void;
}

export function sessionTickets(secret: string, nowMs: () => number = Date.now): SessionTickets {
  const periodNow = () => Math.floor(nowMs() / 1000 / ROTATION_SECONDS);
  const key = () => Buffer.from(hkdfSync('sha256', secret, 'modstead', `tls-tickets/${periodNow()}`, KEY_BYTES));
  return {
    key,
    rotate(use) {
      let timer: NodeJS.Timeout;
      const schedule = () => {
        const nextMs = (periodNow() + 1) * ROTATION_SECONDS * 1000 - nowMs();
        timer = setTimeout(() => {
          use(key());
          schedule();
        }, nextMs).unref();
      };
      schedule();
      return () => clearTimeout(timer);
    },
  };
}
