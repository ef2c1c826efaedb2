import type { Insertable, Selectable } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';
import type { CookRunnersTable } from './table.ts';

export type RunnerRow = Selectable<CookRunnersTable>;

const BY_DIGEST = statement(`select r.* from cook_runners r join games g on g.id = r.game_id
  where r.digest = ? and r.date_revoked = 0 and g.status <> 3`);
/** Undefined also for a revoked runner, and for one of a deleted game. */
export const byDigest = (db: Pick<Database, 'first'>, digest: string) => db.first<RunnerRow>(BY_DIGEST, [digest]);

export const ofGame = (query: Query, gameId: number): Promise<RunnerRow[]> =>
  query
    .selectFrom('cook_runners')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('date_revoked', '=', 0)
    .orderBy('id')
    .execute();

export const add = (query: Query, row: Insertable<CookRunnersTable>): Promise<RunnerRow> =>
  query.insertInto('cook_runners').values(row).returningAll().executeTakeFirstOrThrow();

/** Returns false if there is no such runner, or it is already revoked. */
export async function revoke(query: Query, gameId: number, id: number, now: number): Promise<boolean> {
  const changed = await query
    .updateTable('cook_runners')
    .set({ date_revoked: now })
    .where('id', '=', id)
    .where('game_id', '=', gameId)
    .where('date_revoked', '=', 0)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

export const seen = (query: Query, id: number, now: number) =>
  query.updateTable('cook_runners').set({ date_seen: now }).where('id', '=', id).execute();
