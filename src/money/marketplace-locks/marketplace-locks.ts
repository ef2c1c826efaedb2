import { requireUserForChange } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import * as store from './store.ts';

export type { LockRow } from './store.ts';

/** The switch of a user: neither purchases by them nor sales of their mods. */
export async function requireNotLocked(reader: Pick<Database, 'first'>, userId: number): Promise<void> {
  if (await store.isLocked(reader, userId)) throw new ApiError('MONETIZATION_USER_MONETIZATION_DISABLED');
}

export interface LockDecision {
  readonly isLocked: boolean;
  readonly reason: string;
  /** 0 for the service. */
  readonly by: number;
}

/** Locks a user out of the marketplace, or ends the lock. The caller holds the lock of the account. */
export async function setLock(
  app: App,
  transaction: Transaction,
  userId: number,
  { isLocked, reason, by }: LockDecision,
): Promise<void> {
  const row = { user_id: userId, reason, decided_by: by, date_added: app.clock.now() };
  await (isLocked ? store.put(transaction, row) : store.remove(transaction, userId));
  const action = isLocked ? 'users.marketplace-lock' : 'users.marketplace-unlock';
  const subject = { resource: 'users', id: userId, gameId: 0 };
  await audit(app, transaction, { actor: by, action, subject, reason });
}

export const isLocked = store.isLocked;

export async function decideLock(
  app: App,
  caller: UserCaller,
  userId: number,
  decision: Omit<LockDecision, 'by'>,
): Promise<void> {
  if (!caller.admin) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  await app.db.write(async (transaction) => {
    await requireUserForChange(transaction, userId);
    await setLock(app, transaction, userId, { ...decision, by: caller.userId });
  });
}

export const listLocks = (
  app: App,
  { admin }: UserCaller,
  page: { readonly limit: number; readonly offset: number },
): Promise<{ rows: store.LockRow[]; total: number }> => {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.list(app.db.query, page);
};
