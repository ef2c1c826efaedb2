import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type SensitiveTeamChange, teamExtensions } from './extensions.ts';

/**
 * Runs a change of a team. Extensions are called after a rollback too, so that they can write although the change
 * failed.
 */
export async function changeTeam<T>(
  app: App,
  caller: UserCaller,
  gameId: number,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  try {
    return await app.db.write(work);
  } catch (error) {
    for (const { onFailure } of app.extensions.of(teamExtensions)) await onFailure?.(app, caller, gameId, error);
    throw error;
  }
}

/** Extensions can refuse a change that grants or revokes the powers of an administrator. */
export async function checkSensitiveChange(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  gameId: number,
  change: SensitiveTeamChange,
): Promise<void> {
  for (const { onSensitiveChange } of app.extensions.of(teamExtensions))
    await onSensitiveChange?.(app, transaction, caller, gameId, change);
}
