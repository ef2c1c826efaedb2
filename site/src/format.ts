import { numbersIn, once } from './numbers.ts';

/** Dates, numbers and sizes in a language. */
export interface Formats {
  number(value: number): string;
  /** `12K` instead of 12,345. */
  compact(value: number): string;
  /** Seconds since 1970 as a day. */
  day(seconds: number): string;
  /** Seconds since 1970 as a time, for `title`. */
  time(seconds: number): string;
  /** `3 days ago`, or the day if that is longer than a month ago. */
  ago(seconds: number): string;
  /** Seconds since 1970 for machines: `datetime`, JSON-LD. */
  machine(seconds: number): string;
  bytes(value: number): string;
}

const known = new Map<string, Formats>();

export function formatsIn(language: string): Formats {
  const formats = known.get(language) ?? makeFormats(language);
  known.set(language, formats);
  return formats;
}

const STEPS = [
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
] as const;
/** The largest unit of time that fits, with its seconds. */
export const largestUnit = (seconds: number) => STEPS.findLast(([, size]) => seconds >= size) ?? STEPS[0];

const UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const;
const MONTH_SECONDS = 30 * 86_400;

function makeFormats(language: string): Formats {
  // The same on the server and in the browser, whose time zones differ.
  const days = once(() => new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }));
  const times = once(
    () => new Intl.DateTimeFormat(language, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' }),
  );
  const relative = once(() => new Intl.RelativeTimeFormat(language, { numeric: 'auto' }));
  const sizes = UNITS.map((unit, step) =>
    once(() => {
      const unitDisplay = step === 0 ? 'long' : 'short';
      return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay, maximumFractionDigits: 1 });
    }),
  );
  const day = (seconds: number) => days().format(seconds * 1000);
  return {
    number: numbersIn(language),
    compact: numbersIn(language, { notation: 'compact', maximumFractionDigits: 1 }),
    day,
    time: (seconds) => `${times().format(seconds * 1000)} UTC`,
    machine: (seconds) => new Date(seconds * 1000).toISOString(),
    ago(seconds) {
      const past = Math.max(0, Date.now() / 1000 - seconds);
      if (past > MONTH_SECONDS) return day(seconds);
      const [unit, size] = largestUnit(past);
      return relative().format(-Math.floor(past / size), unit);
    },
    bytes(value) {
      const step = Math.min(UNITS.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3));
      return sizes[step]!().format(value / 1000 ** step);
    },
  };
}
