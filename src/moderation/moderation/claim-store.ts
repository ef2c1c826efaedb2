import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { queueScope } from './store.ts';
import type { ModerationClaimsTable } from './table.ts';

type Reader = Pick<Database, 'first'>;
export type ClaimRow = ModerationClaimsTable;

/** Serialises moderators who take the next items of a game, so that each gets others. */
export const lockTaking = (transaction: Transaction, gameId: number) =>
  takeAdvisoryLock(transaction, `moderation/claims/${gameId}`);

const VALID = statement('select * from moderation_claims where resource = ? and resource_id = ? and date_expires > ?');
export const validClaim = (reader: Reader, resource: string, id: number, now: number) =>
  reader.first<ClaimRow>(VALID, [resource, id, now]);

const PUT = statement(`insert into moderation_claims (resource, resource_id, game_id, user_id, date_expires)
  values (?, ?, ?, ?, ?) on conflict (resource, resource_id) do update
  set game_id = excluded.game_id, user_id = excluded.user_id, date_expires = excluded.date_expires
  where moderation_claims.user_id = excluded.user_id or moderation_claims.date_expires <= ? returning *`);
/** Adds or renews a claim. Returns nothing if another moderator has a valid one. */
export function put(transaction: Transaction, row: ClaimRow, now: number) {
  const { resource, resource_id, game_id, user_id, date_expires } = row;
  transaction.changed(queueScope(game_id));
  return transaction.first<ClaimRow>(PUT, [resource, resource_id, game_id, user_id, date_expires, now]);
}

const REMOVE = statement('delete from moderation_claims where resource = ? and resource_id = ? returning game_id');
export async function remove(transaction: Transaction, resource: string, id: number): Promise<void> {
  const removed = await transaction.first<{ game_id: number }>(REMOVE, [resource, id]);
  if (removed) transaction.changed(queueScope(removed.game_id));
}

export const removeExpired = ({ query }: Transaction, gameId: number, now: number) =>
  query.deleteFrom('moderation_claims').where('game_id', '=', gameId).where('date_expires', '<=', now).execute();
