import { createHmac, timingSafeEqual } from 'node:crypto';

/** A session report as the game's plugin signs it. */
export interface SessionReport {
  readonly sessionId: string;
  /** As sent: some plugins use seconds, others milliseconds. */
  readonly ts: number;
  readonly nonce: string;
  readonly orderId: number;
  readonly hash: string;
  /** The mods in use; only the start report contains and signs them. */
  readonly ids: readonly number[];
}

/** Larger values are milliseconds: as seconds they would lie thousands of years ahead, as milliseconds since 1973. */
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
