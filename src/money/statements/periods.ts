import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Period } from './store.ts';

export type { Period } from './store.ts';

const SECOND_MS = 1_000;
const DAY = 86_400;
const YEAR_DAYS = 366;

export interface PeriodQuery {
  /** Such as 2026-11. */
  readonly month?: string | undefined;
  /** Days, both inclusive. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const secondOf = (day: string): number => Date.parse(`${day}T00:00:00Z`) / SECOND_MS;

const monthOf = (second: number): string => new Date(second * SECOND_MS).toISOString().slice(0, 7);

function periodOfMonth(month: string): Period {
  const [year = 0, number = 0] = month.split('-').map(Number);
  return { from: secondOf(`${month}-01`), until: Date.UTC(year, number, 1) / SECOND_MS };
}

/** A month, or the days from one to another, in UTC; without a choice the current month. At most a year. */
export function periodOf({ month, from, to }: PeriodQuery, now: number): Period {
  if (month !== undefined && (from !== undefined || to !== undefined)) throw invalid('month');
  if (from === undefined && to === undefined) return periodOfMonth(month ?? monthOf(now));
  const until = to === undefined ? now - (now % DAY) + DAY : secondOf(to) + DAY;
  const first = from === undefined ? until - DAY : secondOf(from);
  if (first >= until || until - first > YEAR_DAYS * DAY) throw invalid(from === undefined ? 'to' : 'from');
  return { from: first, until };
}

const invalid = (field: string) => new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'invalid' }] });
