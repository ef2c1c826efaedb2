import { crc32 } from 'node:zlib';

/** JSON of a response that is assembled from parts, which are summed when they are made and not at each response. */
export interface SummedItem {
  readonly text: string;
  readonly bytes: Buffer;
  readonly checksum: number;
}

export function summed(text: string): SummedItem {
  const bytes = Buffer.from(text);
  return { text, bytes, checksum: crc32(bytes) };
}

/** The checksum of a text from those of its parts: summing a page of a hundred mods would take a fifth of its time. */
export const checksumOf = (parts: readonly number[], rest: string): number => crc32(rest, parts.reduce(mixed, 0));

/** Differs for another part or another order. The factor is the prime of FNV-1. */
const mixed = (sum: number, part: number): number => (Math.imul(sum, 0x0100_0193) ^ part) >>> 0;

export interface PlaceOfPage {
  readonly total: number;
  readonly limit: number;
  readonly offset: number;
}

export const BEFORE_ITEMS = '{"data":[';
export const behindItems = (count: number, { total, limit, offset }: PlaceOfPage): string =>
  `],"result_count":${count},"result_offset":${offset},"result_limit":${limit},"result_total":${total}}`;
