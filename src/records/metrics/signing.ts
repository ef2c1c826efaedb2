import { createHmac, timingSafeEqual } from 'node:crypto';

/** What a game tells of a session, as its plugin signs it. */
export interface SessionReport {
  readonly sessionId: string;
  /** As it was sent: seconds from the one plugin, milliseconds from the other. */
  readonly ts: number;
  readonly nonce: string;
  readonly orderId: number;
  readonly hash: string;
  /** The mods in use, which are sent and signed at the start alone. */
  readonly ids: readonly number[];
}

/** No clock shows this many seconds for thousands of years, and milliseconds have passed it since 1973. */
const SECONDS_MAX = 100_000_000_000;

export const secondOf = (ts: number): number => (ts >= SECONDS_MAX ? Math.floor(ts / 1_000) : ts);

export const sessionHash = (
  secret: string,
  { ids, ts, sessionId, nonce }: Pick<SessionReport, 'ids' | 'ts' | 'sessionId' | 'nonce'>,
): string =>
  createHmac('sha256', secret)
    .update(`${ids.join(',')}${ts}${sessionId}${nonce}`)
    .digest('hex');

export function isSigned(secret: string, report: SessionReport): boolean {
  const expected = Buffer.from(sessionHash(secret, report));
  const given = Buffer.from(report.hash.toLowerCase());
  return expected.length === given.length && timingSafeEqual(expected, given);
}
