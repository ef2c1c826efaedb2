import { largestUnit } from '#format';

/** `3 hours`, in the largest unit that fits. */
export function durationIn(language: string, seconds: number): string {
  const [unit, size] = largestUnit(seconds);
  const format = new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(Math.round(seconds / size));
}
