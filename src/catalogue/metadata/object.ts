import { z } from 'zod';
import { toKvp } from './pieces.ts';

export const PAIRS_MAX = 500;
const LENGTH_MAX = 255;

/** The first colon divides; further ones belong to the value. */
export const MetadataPair = z
  .string()
  .regex(/^[^:]+:.+$/s)
  .refine((pair) => sizesOf(pair).every((length) => length <= LENGTH_MAX), {
    params: { rule: 'string_max', values: { max: LENGTH_MAX } },
  });

function sizesOf(pair: string): number[] {
  const { metakey, metavalue } = toKvp(pair);
  return [[...metakey].length, [...metavalue].length];
}
