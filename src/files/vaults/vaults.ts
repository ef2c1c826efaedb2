import { auditByGame } from '../../catalogue/mods/auditing.ts';
import { levelsOf, type ModRow, mayEdit, requireMod, requireModForChange } from '../../catalogue/mods/mods.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export interface Vault {
  readonly mod_id: number;
  readonly date_opens: number;
  readonly date_closes: number;
}

/** Refuses downloads before the vault opens and after it has closed. */
export function requireOpenVault(
  { date_opens, date_closes }: { readonly date_opens: number | null; readonly date_closes: number | null },
  now: number,
): void {
  if (now < (date_opens ?? 0)) throw new ApiError('VAULT_TOO_EARLY');
  if (date_closes && now >= date_closes) throw new ApiError('VAULT_EXPIRED');
}

interface Which {
  readonly gameId: number;
  readonly modId: number;
}

const NONE = { date_opens: 0, date_closes: 0 };

export async function showVault(app: App, caller: Caller, { gameId, modId }: Which): Promise<Vault> {
  await requireMod(app.db, caller, gameId, modId);
  const { date_opens, date_closes } = (await store.ofMod(app.db, modId)) ?? NONE;
  return { mod_id: modId, date_opens, date_closes };
}

async function modToLock(transaction: Transaction, caller: Caller, { gameId, modId }: Which): Promise<ModRow> {
  const mod = await requireModForChange(transaction, caller, gameId, modId);
  if (!mayEdit(await levelsOf(transaction, caller, mod))) throw new ApiError('MOD_NO_UPDATE_PERMISSION');
  return mod;
}

/** Limits downloads to this period. The teams of the mod and its game can always download. */
export async function putVault(
  app: App,
  caller: UserCaller,
  which: Which,
  { date_opens, date_closes }: Omit<Vault, 'mod_id'>,
): Promise<Vault> {
  if (date_closes !== 0 && date_closes <= date_opens)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'date_closes', rule: 'invalid' }] });
  await app.db.write(async (transaction) => {
    const mod = await modToLock(transaction, caller, which);
    await store.put(transaction, { mod_id: mod.id, date_opens, date_closes, date_updated: app.clock.now() });
    const data = { date_opens, date_closes };
    await auditByGame(app, transaction, caller, mod, { action: 'mods.vault', data });
  });
  return { mod_id: which.modId, date_opens, date_closes };
}

export async function removeVault(app: App, caller: UserCaller, which: Which): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await modToLock(transaction, caller, which);
    if (await store.remove(transaction, mod.id))
      await auditByGame(app, transaction, caller, mod, { action: 'mods.vault-remove' });
  });
}
