import { z } from 'zod';
import type { Listing, ListRequest } from '../database/listing.ts';
import { BEFORE_ITEMS, behindItems, checksumOf, type SummedItem } from '../text/assembled-json.ts';
import { Json } from './operation.ts';

/** Schemas shared by requests and responses. */
export const Integer = z.int();
export const Id = z.int().min(1);
export const Timestamp = z.int().min(0).meta({ description: 'Unix seconds' });

/** Ids in a path are decimal. */
const PATH_ID = /^\d{1,15}$/;
export const PathId = z.string().regex(PATH_ID).transform(Number).pipe(Id);

/** The same without an error message. */
export function idOf(text: string): number | undefined {
  const id = PATH_ID.test(text) ? Number(text) : 0;
  return id >= 1 ? id : undefined;
}

export const GamePath = z.object({ game_id: PathId });
export const ModPath = z.object({ game_id: PathId, mod_id: PathId });
export const FilePath = z.object({ game_id: PathId, mod_id: PathId, file_id: PathId });
export const GuidePath = z.object({ game_id: PathId, guide_id: PathId });
export const UserPath = z.object({ user_id: PathId });

export const MessageObject = z.object({ code: Integer, message: z.string() }).meta({ id: 'Message' });
export const WebMessageObject = z
  .object({ code: Integer, success: z.boolean(), message: z.string() })
  .meta({ id: 'WebMessage' });

const NUMBER_OF_ANY_SIZE = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i;
const isNumber = (value: unknown) =>
  typeof value === 'number' || (typeof value === 'string' && NUMBER_OF_ANY_SIZE.test(value));

/** A shorter lifetime for a token. A value out of range is ignored, not rejected. */
export const TokenExpiry = z
  .unknown()
  .refine((value) => value === undefined || value === null || value === '' || isNumber(value), {
    params: { rule: 'integer' },
  })
  .transform((value) => {
    const second = isNumber(value) ? Math.floor(Number(value)) : undefined;
    return Number.isSafeInteger(second) ? second : undefined;
  })
  .optional()
  .meta({ type: 'integer', description: 'Unix seconds of a shorter life; past or too late, it is ignored.' });

/** The response to a successful sign-in. */
export const AccessTokenObject = z
  .object({ code: Integer, access_token: z.string(), date_expires: Integer })
  .meta({ id: 'AccessToken' });

/** A page of a list. A page of objects with an id is a component as well: `ModPage`. */
export function pageOf<S extends z.ZodType>(item: S) {
  const page = z.object({
    data: z.array(item),
    result_count: Integer,
    result_offset: Integer,
    result_limit: Integer,
    result_total: Integer,
  });
  const id = item.meta()?.id;
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

/** A list page of items that are already JSON. */
export function pageOfJson(
  items: readonly string[],
  total: number,
  { limit, offset }: Pick<ListRequest, 'limit' | 'offset'>,
): Json {
  return new Json(`${BEFORE_ITEMS}${items.join(',')}${behindItems(items.length, { total, limit, offset })}`);
}

const COMMA = Buffer.from(',');

/** As `pageOfJson`, for items that were encoded and summed before. */
export function pageOfSummed(
  items: readonly SummedItem[],
  total: number,
  list: Pick<ListRequest, 'limit' | 'offset'>,
): Json {
  const end = behindItems(items.length, { total, ...list });
  const parts = items.flatMap(({ bytes }, i) => (i === 0 ? [bytes] : [COMMA, bytes]));
  const checksums = items.map(({ checksum }) => checksum);
  return new Json(Buffer.concat([Buffer.from(BEFORE_ITEMS), ...parts, Buffer.from(end)]), {
    checksum: checksumOf(checksums, end),
  });
}

export function page<T>(items: readonly T[], total: number, list: Pick<ListRequest, 'limit' | 'offset'>): Json {
  return pageOfJson(
    items.map((item) => JSON.stringify(item)),
    total,
    list,
  );
}

/** A list without filters and sorts. */
export const pagesOnly: Listing = { from: '', columns: {}, sorts: {} };

/** Pages a list in memory, for lists that are always short. */
export function pageOfAll<T>(items: readonly T[], list: Pick<ListRequest, 'limit' | 'offset'>): Json {
  return page(items.slice(list.offset, list.offset + list.limit), items.length, list);
}
