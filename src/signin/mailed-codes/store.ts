import { type Insertable, type Selectable, sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';
import type { EmailCodesTable } from './table.ts';

export type CodeRow = Selectable<EmailCodesTable>;

export async function addCode(query: Query, row: Insertable<EmailCodesTable>): Promise<void> {
  await query.insertInto('email_codes').values(row).execute();
}

/** A new request from the same place replaces the code; a request from another place must not end it. */
export const closeCodes = (query: Query, { email, keyId, place }: Requested, now: number) =>
  query
    .updateTable('email_codes')
    .set({ date_expires: now })
    .where('email', '=', email)
    .where('key_id', '=', keyId)
    .where('ip', '=', place)
    .where('date_expires', '>', now)
    .where('date_redeemed', 'is', null)
    .execute();

export interface Requested {
  readonly email: string;
  readonly keyId: number;
  readonly place: string;
}

export const removeCode = (query: Query, digest: string, { email, keyId, place }: Requested) =>
  query
    .deleteFrom('email_codes')
    .where('digest', '=', digest)
    .where('email', '=', email)
    .where('key_id', '=', keyId)
    .where('ip', '=', place)
    .execute();

export const forgetCodes = (query: Query, before: number) =>
  query.deleteFrom('email_codes').where('date_expires', '<', before).execute();

/** The next owner of the address must not see codes that were sent there before. */
export const removeCodes = (query: Query, email: string) =>
  query.deleteFrom('email_codes').where('email', '=', email).execute();

export const codesWith = (query: Query, digest: string): Promise<CodeRow[]> =>
  query.selectFrom('email_codes').selectAll().where('digest', '=', digest).orderBy('id', 'desc').execute();

/** Valid codes, in the order in which every guess locks them. */
export const openCodes = (
  query: Query,
  by: { readonly handle_digest: string } | { readonly ip: string } | { readonly email: string },
  now: number,
): Promise<CodeRow[]> =>
  query
    .selectFrom('email_codes')
    .selectAll()
    .where((eb) => eb.and(by))
    .where('date_expires', '>', now)
    .where('date_redeemed', 'is', null)
    .orderBy('id')
    .execute();

/** Returns false when another request redeemed it first. */
export async function redeem(query: Query, id: number, now: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('email_codes')
    .set({ date_redeemed: now })
    .where('id', '=', id)
    .where('date_redeemed', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export type AttemptCounter = 'attempts' | 'handle_attempts' | 'remote_attempts';

/** Counts a guess unless no attempts are left. The row stays locked, so that concurrent guesses count one by one. */
export async function countAttempt(query: Query, id: number, counter: AttemptCounter, max: number): Promise<boolean> {
  const { numUpdatedRows } = await query
    .updateTable('email_codes')
    .set(counter, sql`${sql.ref(counter)} + 1`)
    .where('id', '=', id)
    .where(counter, '<', max)
    .where('date_redeemed', 'is', null)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

export const uncountAttempt = (query: Query, id: number, counter: AttemptCounter) =>
  query
    .updateTable('email_codes')
    .set(counter, sql`${sql.ref(counter)} - 1`)
    .where('id', '=', id)
    .execute();

/** Adds one unless the counter is exhausted. The window begins with the first use. */
export async function takeFrom(
  query: Query,
  bucket: string,
  { max, seconds }: { readonly max: number; readonly seconds: number },
  now: number,
): Promise<boolean> {
  const isOver = sql<boolean>`code_counters.date_ends <= ${now}`;
  const taken = await query
    .insertInto('code_counters')
    .values({ bucket, used: 1, date_ends: now + seconds })
    .onConflict((conflict) =>
      conflict
        .column('bucket')
        .doUpdateSet({
          used: sql`case when ${isOver} then 1 else code_counters.used + 1 end`,
          date_ends: sql`case when ${isOver} then ${now + seconds} else code_counters.date_ends end`,
        })
        .where(sql<boolean>`(${isOver} or code_counters.used < ${max})`),
    )
    .returning('used')
    .executeTakeFirst();
  return taken !== undefined;
}

export const giveBackTo = (query: Query, bucket: string) =>
  query
    .updateTable('code_counters')
    .set((eb) => ({ used: eb('used', '-', 1) }))
    .where('bucket', '=', bucket)
    .where('used', '>', 0)
    .execute();

export const counterOf = (query: Query, bucket: string, now: number) =>
  query
    .selectFrom('code_counters')
    .select(['used', 'date_ends'])
    .where('bucket', '=', bucket)
    .where('date_ends', '>', now)
    .executeTakeFirst();

export const forgetCounters = (query: Query, now: number) =>
  query.deleteFrom('code_counters').where('date_ends', '<=', now).execute();

/** One query, whether or not the address has an account, so that the response time does not reveal it. */
export async function knownAmong(query: Query, email: string, digests: readonly string[]): Promise<string[]> {
  const rows = await query
    .selectFrom('known_places as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .select('p.digest')
    .where('u.email', '=', email)
    .where('p.digest', 'in', digests)
    .execute();
  return rows.map(({ digest }) => digest);
}

export async function addKnownPlace(query: Query, userId: number, digest: string, now: number): Promise<void> {
  await query
    .insertInto('known_places')
    .values({ user_id: userId, digest, date_seen: now })
    .onConflict((conflict) => conflict.columns(['user_id', 'digest']).doUpdateSet({ date_seen: now }))
    .execute();
}

/** Deletes all but the most recently used places. */
export async function trimKnownPlaces(query: Query, userId: number, max: number): Promise<void> {
  const newest = query
    .selectFrom('known_places')
    .select('digest')
    .where('user_id', '=', userId)
    .orderBy('date_seen', 'desc')
    .orderBy('digest')
    .limit(max);
  await query.deleteFrom('known_places').where('user_id', '=', userId).where('digest', 'not in', newest).execute();
}

export const removeKnownPlaces = (query: Query, userId: number) =>
  query.deleteFrom('known_places').where('user_id', '=', userId).execute();

export const forgetKnownPlaces = (query: Query, before: number) =>
  query.deleteFrom('known_places').where('date_seen', '<', before).execute();
