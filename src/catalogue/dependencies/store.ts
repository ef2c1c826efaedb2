import type { Selectable } from 'kysely';
import { sql } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Tables,
  type Transaction,
} from '../../platform/database/database.ts';
import type { ListRequest } from '../../platform/database/listing.ts';
import { takeAdvisoryLock, withUpdateLock } from '../../platform/database/locks.ts';
import { isNotMutedBy } from '../../platform/database/muted.ts';
import './table.ts';

type Page = Pick<ListRequest, 'limit' | 'offset'>;
type Reader = Pick<Database, 'first'>;
export type ModRow = Selectable<Tables['mods']>;

const OPTION = statement('select dependency_option from games where id = ?');
export async function optionOf(reader: Reader, gameId: number): Promise<number | undefined> {
  return (await reader.first<{ dependency_option: number }>(OPTION, [gameId]))?.dependency_option;
}

/** Every mod below this one, once, at its lowest depth. */
const treeOf = (modId: number, depthMax: number) => sql`
  with recursive tree (id, depth) as (
    select dependency_id, 1 from mod_dependencies where mod_id = ${modId}
    union
    select d.dependency_id, t.depth + 1 from mod_dependencies d join tree t on d.mod_id = t.id
      where t.depth < ${depthMax}
  )`;

export interface Below {
  id: number;
  depth: number;
}

export async function below(
  query: Query,
  modId: number,
  depthMax: number,
  { limit, offset }: Page,
): Promise<{ rows: Below[]; total: number }> {
  const counted = await sql<{ total: number }>`${treeOf(modId, depthMax)}
    select count(distinct id) as total from tree`.execute(query);
  const { rows } = await sql<Below>`${treeOf(modId, depthMax)}
    select id, min(depth) as depth from tree group by id order by 2, 1
    limit ${limit} offset ${offset}`.execute(query);
  return {
    rows: rows.map(({ id, depth }) => ({ id: Number(id), depth: Number(depth) })),
    total: Number(counted.rows[0]!.total),
  };
}

/** The caller of a list: the game's team sees every mod that is not deleted, others see public mods and their own. */
export interface Viewer {
  readonly everything: boolean;
  readonly userId: number | undefined;
  /** The user whose mutes apply. */
  readonly muterId: number | undefined;
}

export async function dependants(
  query: Query,
  modId: number,
  { everything, userId, muterId }: Viewer,
  { limit, offset }: Page,
): Promise<{ ids: number[]; total: number }> {
  const shown = sql<boolean>`m.status <> 3 and (${everything ? 1 : 0} = 1 or (m.status = 1 and m.visible = 1)
    or m.id in (select t.resource_id from team_members t where t.resource = 'mods' and t.user_id = ${userId ?? 0}))`;
  const all = query
    .selectFrom('mod_dependencies as d')
    .innerJoin('mods as m', 'm.id', 'd.mod_id')
    .where('d.dependency_id', '=', modId)
    .where(shown)
    .$if(muterId !== undefined, (mods) => mods.where(isNotMutedBy(muterId!, 'm.submitted_by')));
  const { total } = await all.select(sql<number>`count(*)`.as('total')).executeTakeFirstOrThrow();
  const rows = await all.select('m.id').orderBy('m.id').limit(limit).offset(offset).execute();
  return { ids: rows.map((row) => row.id), total: Number(total) };
}

/** Those of these mods whose team the user belongs to. */
export async function ownAmong(query: Query, userId: number, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set();
  const rows = await query
    .selectFrom('team_members')
    .select('resource_id')
    .where('user_id', '=', userId)
    .where('resource', '=', 'mods')
    .where('resource_id', 'in', ids)
    .execute();
  return new Set(rows.map((row) => row.resource_id));
}

/**
 * Locks the game, because two concurrent dependencies may close a cycle together. SQLite has a single writer anyway.
 */
export const lockGame = (transaction: Transaction, gameId: number) =>
  takeAdvisoryLock(transaction, `dependencies/${gameId}`);

/** Locked, so that none of them is deleted before the dependency is stored. */
const MOD = withUpdateLock(statement('select * from mods where id = ?'));
export const lockMod = (transaction: Transaction, id: number) => transaction.first<ModRow>(MOD, [id]);

const DEPENDENCIES = statement('select dependency_id from mod_dependencies where mod_id = ?');
export async function dependenciesOf(transaction: Transaction, modId: number): Promise<number[]> {
  const rows = await transaction.all<{ dependency_id: number }>(DEPENDENCIES, [modId]);
  return rows.map((row) => row.dependency_id);
}

const LINKED = statement(`select 1 as linked where exists (select 1 from mod_dependencies where mod_id = ?)
  or exists (select 1 from mod_dependencies where dependency_id = ?)`);
export const isLinked = async (transaction: Transaction, modId: number): Promise<boolean> =>
  (await transaction.first(LINKED, [modId, modId])) !== undefined;

/** Whether one of these mods depends on the mod, directly or indirectly. */
export async function dependsAny(query: Query, ids: readonly number[], modId: number): Promise<boolean> {
  if (ids.length === 0) return false;
  const { rows } = await sql`
    with recursive needed (id) as (
      select dependency_id from mod_dependencies where mod_id in (${sql.join(ids)})
      union
      select d.dependency_id from mod_dependencies d join needed n on d.mod_id = n.id
    )
    select id from needed where id = ${modId}`.execute(query);
  return rows.length > 0;
}

export async function add(query: Query, modId: number, ids: readonly number[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await query
    .insertInto('mod_dependencies')
    .values(ids.map((id) => ({ mod_id: modId, dependency_id: id, date_added: now })))
    .execute();
}

export async function remove(query: Query, modId: number, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await query.deleteFrom('mod_dependencies').where('mod_id', '=', modId).where('dependency_id', 'in', ids).execute();
}

/** Removes the dependencies and dependants of a mod, and returns the dependants. */
export async function removeOfMod(query: Query, modId: number): Promise<number[]> {
  await query.deleteFrom('mod_dependencies').where('mod_id', '=', modId).execute();
  const others = query.deleteFrom('mod_dependencies').where('dependency_id', '=', modId);
  return (await others.returning('mod_id').execute()).map((row) => row.mod_id);
}
