import type { Platform } from '@modstead/client';

export const SPANS = [30, 90, 365] as const;
const DAY_MS = 86_400_000;

/** The days and the platform that the address asks for. */
export function askedBy({ searchParams }: URL) {
  const days = SPANS.find((count) => String(count) === searchParams.get('days')) ?? SPANS[0];
  const from = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
  // The API refuses platforms that it does not know.
  const platform = (searchParams.get('platform') || undefined)?.toLowerCase() as Platform | undefined;
  return { days, platform, span: { from } };
}
