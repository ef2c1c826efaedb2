import { z } from 'zod';

/** Per request. */
export const PAIRS_MAX = 500;
const LENGTH_MAX = 255;

/** `key:value`. The first colon separates them; further ones belong to the value. */
export const MetadataPair = z
  .string()
  .regex(/^[^:]+:.+$/s)
  .refine((pair) => sizesOf(pair).every((length) => length <= LENGTH_MAX), {
    params: { rule: 'string_max', values: { max: LENGTH_MAX } },
  });

export function toKvp(pair: string): { metakey: string; metavalue: string } {
  const colon = pair.indexOf(':');
  return { metakey: pair.slice(0, colon), metavalue: pair.slice(colon + 1) };
}

function sizesOf(pair: string): number[] {
  const { metakey, metavalue } = toKvp(pair);
  return [[...metakey].length, [...metavalue].length];
}
