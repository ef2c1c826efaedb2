import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

// What others ask of vaults, so this file knows none of them.

/** Refuses who comes before a vault opens, and who comes after it has closed. */
export function requireOpenVault(
  { date_opens, date_closes }: { readonly date_opens: number | null; readonly date_closes: number | null },
  now: number,
): void {
  if (now < (date_opens ?? 0)) throw new ApiError('VAULT_TOO_EARLY');
  if (date_closes && now >= date_closes) throw new ApiError('VAULT_EXPIRED');
}

export const removeVaultOfMod = async (transaction: Transaction, mod: { id: number }): Promise<void> =>
  void (await store.remove(transaction, mod.id));
