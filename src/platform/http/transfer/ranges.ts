import type { ByteRange } from '../../storage/storage.ts';

/** More ranges than any client needs. */
export const RANGES_MAX = 64;
/** The approximate length of a part's head: smaller gaps are cheaper to send than to skip. */
const GAP_MAX = 256;

const UNIT = /^\s*bytes\s*=/i;
const RANGE = /^(\d*)-(\d*)$/;

/**
 * Parses a Range header (RFC 9110, 14.2); an invalid one means the whole object. Ranges that overlap or nearly touch
 * are merged, so that no client can request more than the whole.
 */
export function rangesOf(header: string | undefined, bytes: number): readonly ByteRange[] | 'whole' | 'unsatisfiable' {
  // An empty object has no ranges, but shipped clients always request `bytes=0-`.
  if (header === undefined || bytes === 0 || !UNIT.test(header)) return 'whole';
  const texts = header.replace(UNIT, '').split(',');
  const asked = texts.map((text) => text.trim()).filter((text) => text !== '');
  if (asked.length === 0) return 'whole';
  if (asked.length > RANGES_MAX) return 'unsatisfiable';
  const ranges: ByteRange[] = [];
  for (const text of asked) {
    const range = rangeOf(text, bytes);
    if (range === 'invalid') return 'whole';
    if (range) ranges.push(range);
  }
  return ranges.length === 0 ? 'unsatisfiable' : collapsed(ranges);
}

/** Undefined when the object has no such bytes. */
function rangeOf(text: string, bytes: number): ByteRange | 'invalid' | undefined {
  const [, first = '', last = ''] = RANGE.exec(text) ?? [];
  if (first === '' && last === '') return 'invalid';
  if (first === '')
    return last.match(/^0+$/) ? undefined : { start: Math.max(0, bytes - Number(last)), end: bytes - 1 };
  const start = Number(first);
  const end = last === '' ? bytes - 1 : Number(last);
  if (last !== '' && end < start) return 'invalid';
  return start < bytes ? { start, end: Math.min(end, bytes - 1) } : undefined;
}

/** Merged ranges, in the requested order. */
function collapsed(ranges: readonly ByteRange[]): readonly ByteRange[] {
  const parts: (ByteRange & { place: number })[] = [];
  const ascending = ranges.map((range, place) => ({ ...range, place })).sort((a, b) => a.start - b.start);
  for (const range of ascending) {
    const last = parts.at(-1);
    if (last && range.start <= last.end + 1 + GAP_MAX) {
      last.end = Math.max(last.end, range.end);
      last.place = Math.min(last.place, range.place);
    } else parts.push(range);
  }
  return parts.sort((a, b) => a.place - b.place).map(({ start, end }) => ({ start, end }));
}
