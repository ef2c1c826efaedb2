import { sql } from 'kysely';
import type { Query } from '../../platform/database/database.ts';
import { type Listing, type ListRequest, narrowed, paged } from '../../platform/database/listing.ts';

/** Reads the audit log, which `records/audit` writes, with the names of the actors. */
export async function list(query: Query, gameId: number | undefined, listing: Listing, request: ListRequest) {
  const all = query.selectFrom('audit_log as a').leftJoin('users as u', 'u.id', 'a.user_id');
  const shown = gameId === undefined ? all : all.where('a.game_id', '=', gameId);
  const { total } = await narrowed(shown, listing, request)
    .select(sql<number>`count(*)`.as('total'))
    .executeTakeFirstOrThrow();
  const rows = await paged(
    narrowed(shown.selectAll('a').select('u.username'), listing, request),
    listing,
    request,
  ).execute();
  return { rows, total: Number(total) };
}
