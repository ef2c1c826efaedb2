import type { Selectable } from 'kysely';
import {
  type Database,
  type Query,
  statement,
  type Tables,
  type Transaction,
} from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import { USER, USER_COLUMNS } from '../../platform/database/people.ts';
import type { PreviewersTable } from './table.ts';

type Person = Pick<Selectable<Tables['users']>, (typeof USER_COLUMNS)[number]>;

export interface Previewer {
  readonly user: Person;
  /** Undefined for users who registered with the link, and when the inviter's account has ended. */
  readonly inviter: Person | undefined;
  readonly date_added: number;
}

const ofResource = (query: Query, resource: string, resourceId: number) =>
  query
    .selectFrom('previewers as p')
    .innerJoin('users as u', 'u.id', 'p.user_id')
    .where('p.resource', '=', resource)
    .where('p.resource_id', '=', resourceId)
    .where('u.status', '<>', 3);

const shown = (query: Query, resource: string, resourceId: number) =>
  ofResource(query, resource, resourceId).select(['p.date_added', 'p.invited_by']).select(USER);

type Row = Person & { date_added: number; invited_by: number | null };

async function withInviters(query: Query, rows: readonly Row[]): Promise<Previewer[]> {
  const ids = rows.flatMap(({ invited_by }) => invited_by ?? []);
  const people = query.selectFrom('users').select(USER_COLUMNS).where('status', '<>', 3);
  const inviters = new Map((await people.where('id', 'in', [0, ...ids]).execute()).map((one) => [one.id, one]));
  return rows.map(({ date_added, invited_by, ...user }) => ({
    user,
    inviter: invited_by === null ? undefined : inviters.get(invited_by),
    date_added,
  }));
}

export async function list(query: Query, resource: string, resourceId: number, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(ofResource(query, resource, resourceId), listing, request)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const page = paged(narrowed(shown(query, resource, resourceId), listing, request), listing, request);
  return { previewers: await withInviters(query, await page.execute()), total: Number(total) };
}

export async function previewer(query: Query, resource: string, resourceId: number, userId: number) {
  const row = await shown(query, resource, resourceId).where('p.user_id', '=', userId).executeTakeFirstOrThrow();
  return (await withInviters(query, [row]))[0]!;
}

/** An invited user stays invited; one who registered with the link becomes invited. */
export const put = (query: Query, row: Omit<PreviewersTable, 'id'>) =>
  query
    .insertInto('previewers')
    .values(row)
    .onConflict((key) =>
      key
        .columns(['resource', 'resource_id', 'user_id'])
        .doUpdateSet((eb) => ({ invited_by: eb.fn.coalesce('previewers.invited_by', 'excluded.invited_by') })),
    )
    .execute();

export async function remove(query: Query, resource: string, resourceId: number, userId: number): Promise<boolean> {
  const removed = await query
    .deleteFrom('previewers')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .where('user_id', '=', userId)
    .returning('id')
    .execute();
  return removed.length > 0;
}

/** Locks the row, so that a concurrent deletion waits. */
const LOCK = {
  games: withUpdateLock(statement('select id from games where id = ?')),
  mods: withUpdateLock(statement('select id from mods where id = ?')),
};
export const lock = (transaction: Transaction, resource: 'games' | 'mods', id: number) =>
  transaction.first(LOCK[resource], [id]);

/** The columns that decide whether something can be previewed. */
export interface Standing {
  game_id: number;
  game_name_id: string;
  name_id: string;
  community_options: number;
  status: number;
  /** 1 if it is public, so that there is nothing to preview. */
  is_public: number;
}

const STANDING = {
  games: statement(`select id as game_id, name_id as game_name_id, name_id, community_options, status,
    case when status = 1 then 1 else 0 end as is_public from games where id = ?`),
  mods: statement(`select m.game_id, g.name_id as game_name_id, m.name_id, m.community_options, m.status,
    case when m.status = 1 and m.visible = 1 then 1 else 0 end as is_public
    from mods m join games g on g.id = m.game_id where m.id = ?`),
};
export const standingOf = (reader: Pick<Database, 'first'>, resource: 'games' | 'mods', id: number) =>
  reader.first<Standing>(STANDING[resource], [id]);

/** Returns whether there were any. */
export async function removePreviewers(query: Query, resource: string, resourceId: number): Promise<boolean> {
  const all = query.deleteFrom('previewers').where('resource', '=', resource).where('resource_id', '=', resourceId);
  return (await all.returning('id').execute()).length > 0;
}

export async function removeLink(query: Query, resource: string, resourceId: number): Promise<void> {
  await query
    .deleteFrom('preview_links')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .execute();
}

const VERSION = statement('select version from preview_links where resource = ? and resource_id = ?');
export async function versionOf(
  reader: Pick<Transaction, 'first'>,
  resource: string,
  resourceId: number,
): Promise<number> {
  return (await reader.first<{ version: number }>(VERSION, [resource, resourceId]))?.version ?? 0;
}

const NEXT_VERSION = statement(`insert into preview_links (resource, resource_id, version) values (?, ?, 1)
  on conflict (resource, resource_id) do update set version = preview_links.version + 1`);
export const nextVersion = (transaction: Transaction, resource: string, resourceId: number) =>
  transaction.run(NEXT_VERSION, [resource, resourceId]);
