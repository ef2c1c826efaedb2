import type { Insertable, Selectable, Updateable } from 'kysely';
import { sql } from 'kysely';
import { type Database, type Query, statement, type Transaction } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { PERSON } from '../../platform/database/people.ts';
import type { AgreementVersionsTable } from './table.ts';

export type VersionRow = Selectable<AgreementVersionsTable>;

/** The nearest version on one side that has been in force. */
const neighbour = (nearest: 'max' | 'min', side: '<' | '>') =>
  sql<number>`(select ${sql.raw(nearest)}(x.id) from agreement_versions x where x.type = v.type
    and x.id ${sql.raw(side)} v.id and x.date_live > 0 and x.date_deleted is null)`;

const versions = (query: Query) =>
  query
    .selectFrom('agreement_versions as v')
    .leftJoin('users as u', 'u.id', 'v.user_id')
    .leftJoin('agreement_versions as b', (join) => join.on('b.id', '=', neighbour('max', '<')))
    .leftJoin('agreement_versions as a', (join) => join.on('a.id', '=', neighbour('min', '>')))
    .where('v.date_deleted', 'is', null);

const shown = (query: Query) =>
  versions(query)
    .selectAll('v')
    .select(['b.id as previous_id', 'b.date_live as previous_date_live'])
    .select(['a.id as next_id', 'a.date_live as next_date_live'])
    .select(PERSON);

export type ShownVersion = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export const byId = (query: Query, id: number) => shown(query).where('v.id', '=', id).executeTakeFirst();

export const inForce = (query: Query, type: number) =>
  shown(query).where('v.type', '=', type).where('v.is_active', '=', 1).executeTakeFirst();

export async function list(
  query: Query,
  type: number,
  withDrafts: boolean,
  listing: Listing,
  request: ListRequest,
): Promise<{ rows: ShownVersion[]; total: number }> {
  const least = withDrafts ? 0 : 1;
  const { total } = await narrowed(versions(query), listing, request)
    .where('v.type', '=', type)
    .where('v.date_live', '>=', least)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const page = narrowed(shown(query), listing, request).where('v.type', '=', type).where('v.date_live', '>=', least);
  return { rows: await paged(page, listing, request).execute(), total: Number(total) };
}

/** Serialises changes of a type, so that two versions never come into force at once. */
const LOCK_TYPE = withUpdateLock(statement('select id from agreement_versions where type = ? order by id'));
export const lockType = (transaction: Transaction, type: number) => transaction.all(LOCK_TYPE, [type]);

const TYPE = statement('select type from agreement_versions where id = ? and date_deleted is null');
export async function typeOf(transaction: Transaction, id: number): Promise<number | undefined> {
  return (await transaction.first<{ type: number }>(TYPE, [id]))?.type;
}

const ROW = statement('select * from agreement_versions where id = ? and date_deleted is null');
export const rowIn = (transaction: Transaction, id: number) => transaction.first<VersionRow>(ROW, [id]);

export const hasAny = async (query: Query, type: number): Promise<boolean> =>
  (await query.selectFrom('agreement_versions').select('id').where('type', '=', type).executeTakeFirst()) !== undefined;

export async function add(query: Query, row: Insertable<AgreementVersionsTable>): Promise<number> {
  return (await query.insertInto('agreement_versions').values(row).returning('id').executeTakeFirstOrThrow()).id;
}

export const change = (query: Query, id: number, changes: Updateable<AgreementVersionsTable>) =>
  query.updateTable('agreement_versions').set(changes).where('id', '=', id).execute();

export async function putInForce(query: Query, { id, type }: Pick<VersionRow, 'id' | 'type'>, now: number) {
  await query
    .updateTable('agreement_versions')
    .set({ is_active: 0 })
    .where('type', '=', type)
    .where('is_active', '=', 1)
    .execute();
  await change(query, id, { is_active: 1, date_live: now });
}

/** Returns false where the user has accepted it before. */
export async function accept(
  query: Query,
  { userId, versionId, gameId }: { userId: number; versionId: number; gameId: number },
  now: number,
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await query
    .insertInto('agreement_acceptances')
    .values({ user_id: userId, version_id: versionId, game_id: gameId, date_added: now })
    .onConflict((key) => key.columns(['user_id', 'version_id', 'game_id']).doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

const acceptances = (query: Query, userId: number) =>
  query
    .selectFrom('agreement_acceptances as c')
    .innerJoin('agreement_versions as v', 'v.id', 'c.version_id')
    .where('c.user_id', '=', userId);

const shownAcceptances = (query: Query, userId: number) =>
  acceptances(query, userId).select([
    'c.id',
    'c.version_id',
    'c.game_id',
    'c.date_added',
    'v.type',
    'v.name',
    'v.is_active',
  ]);

export type AcceptanceRow = Awaited<ReturnType<ReturnType<typeof shownAcceptances>['executeTakeFirstOrThrow']>>;

export const acceptanceOf = (query: Query, userId: number, versionId: number) =>
  shownAcceptances(query, userId)
    .where('c.version_id', '=', versionId)
    .where('c.game_id', '=', 0)
    .executeTakeFirstOrThrow();

export async function listAcceptances(query: Query, userId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(acceptances(query, userId), listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const page = paged(narrowed(shownAcceptances(query, userId), listing, request), listing, request);
  return { rows: await page.execute(), total: Number(total) };
}

const IN_FORCE = statement('select id from agreement_versions where is_active = 1 and type in (?, ?)');
export async function idsInForce(transaction: Transaction, types: readonly [number, number]): Promise<number[]> {
  return (await transaction.all<{ id: number }>(IN_FORCE, types)).map(({ id }) => id);
}

const OPEN = statement(`select v.id from agreement_versions v where v.is_active = 1 and v.type in (?, ?)
  and not exists (select 1 from agreement_acceptances c
    where c.user_id = ? and c.version_id = v.id and c.game_id = ?) limit 1`);

/** Whether the user has not accepted a version of these types that is in force. */
export async function hasOpen(
  reader: Pick<Database, 'first'>,
  types: readonly [number, number],
  { userId, gameId }: { userId: number; gameId: number },
): Promise<boolean> {
  return (await reader.first(OPEN, [...types, userId, gameId])) !== undefined;
}

/** A new service has the first versions; those of an imported service replace them. */
export const removeVersions = (query: Query) => query.deleteFrom('agreement_versions').execute();
