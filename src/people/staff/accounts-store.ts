import { sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';
import { USER } from '../../platform/database/people.ts';

const DELETED = 3;

const accounts = (query: Query) => query.selectFrom('users as u').where('u.status', '<>', DELETED);

const shown = (query: Query) =>
  accounts(query)
    .leftJoin('site_staff as s', 's.user_id', 'u.id')
    .select(USER)
    .select(['u.email', 'u.status', 'u.date_locked', 'u.date_closed'])
    .select(sql<number>`coalesce(s.level, 0)`.as('staff_level'));

export type AccountRow = Awaited<ReturnType<ReturnType<typeof shown>['executeTakeFirstOrThrow']>>;

export async function listAccounts(query: Query, listing: Listing, request: ListRequest) {
  const { total } = await narrowed(accounts(query), listing, request)
    .select((eb) => eb.fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  const rows: AccountRow[] = await paged(narrowed(shown(query), listing, request), listing, request).execute();
  return { rows, total: Number(total) };
}
