import type { Insertable, Selectable } from 'kysely';
import { type Database, type Query, statement } from '../../platform/database/database.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import type { SessionsTable } from './table.ts';

export type SessionRow = Selectable<SessionsTable>;

export async function add(query: Query, row: Insertable<SessionsTable>): Promise<void> {
  await query.insertInto('sessions').values(row).execute();
}

const WITH_DIGEST =
  statement(`select s.id, s.user_id, s.date_expires, u.username, u.language, u.status, coalesce(e.epoch, 0) as epoch from sessions s
  join users u on u.id = s.user_id left join access_epochs e on e.user_id = s.user_id
  where s.digest = ? and s.date_revoked is null and s.date_expires > ? and u.date_locked is null`);

export interface OpenSession {
  readonly id: number;
  readonly user_id: number;
  readonly date_expires: number;
  readonly username: string;
  readonly language: string;
  readonly status: number;
  /** The user’s epoch, which credentials issued in this session inherit. */
  readonly epoch: number;
}

export const openWith = (db: Database, digest: string, now: number) =>
  db.first<OpenSession>(WITH_DIGEST, [digest, now]);

export const openOf = (query: Query, userId: number, now: number): Promise<SessionRow[]> =>
  query
    .selectFrom('sessions')
    .selectAll()
    .where('user_id', '=', userId)
    .where('date_revoked', 'is', null)
    .where('date_expires', '>', now)
    .orderBy('id')
    .execute();

/** Returns false if there was no such session. */
export async function end(
  query: Query,
  which: { userId: number; id?: number } | { digest: string },
  now: number,
): Promise<boolean> {
  let update = query.updateTable('sessions').set({ date_revoked: now }).where('date_revoked', 'is', null);
  if ('digest' in which) update = update.where('digest', '=', which.digest);
  else update = update.where('user_id', '=', which.userId);
  if ('id' in which && which.id !== undefined) update = update.where('id', '=', which.id);
  return (await update.executeTakeFirst()).numUpdatedRows > 0n;
}

const OUTDATED = someOf('sessions', ['id'], 'date_expires < ? or date_revoked < ?');
export const forget = (db: Database, before: number) => removeInSteps(db, OUTDATED, [before, before]);
