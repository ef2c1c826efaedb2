import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { auditByGame } from '../mods/auditing.ts';
import { toKvp } from '../mods/metadata-pairs.ts';
import { levelsOf, type ModRow, mayEdit, modChanged, requireMod, requireModForChange } from '../mods/mods.ts';
import { applyRulesToMod } from '../mods/rule-checks.ts';
import * as store from './store.ts';

export const metadataListing: Listing = { from: 'd', columns: {}, sorts: {} };

const PAIRS_PER_MOD_MAX = 1_000;

export async function listMetadata(app: App, caller: Caller, gameId: number, modId: number, request: ListRequest) {
  await requireMod(app.db, caller, gameId, modId);
  return store.listPairs(app.db.query, modId, metadataListing, request);
}

/** Adds pairs of key and value. A key can have many values, each once. */
export async function addMetadata(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  pairs: readonly string[],
): Promise<void> {
  await app.db.write(async (transaction) => {
    const allowed = await modFor(transaction, caller, gameId, modId, 'MOD_METADATA_NO_ADD_PERMISSION');
    const mod = await applyRulesToMod(app, transaction, caller, allowed);
    const present = await store.pairsOfMod(transaction, modId);
    const added = [...new Set(pairs).difference(new Set(present))];
    if (present.length + added.length > PAIRS_PER_MOD_MAX)
      throw new ApiError('VALIDATION_GENERIC', {
        fields: [{ field: 'metadata', rule: 'array_max', values: { max: PAIRS_PER_MOD_MAX } }],
      });
    await store.add(transaction.query, modId, added);
    if (added.length === 0) return;
    await modChanged(app, transaction, mod, { userId: caller.userId });
    await auditByGame(app, transaction, caller, mod, { action: 'mods.metadata-add' });
  });
}

/** Removes pairs: a key alone removes all its values, an empty list removes everything. */
export async function removeMetadata(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  named: readonly string[],
): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await modFor(transaction, caller, gameId, modId, 'MOD_METADATA_NO_DELETE_PERMISSION');
    const names = new Set(named);
    const present = await store.pairsOfMod(transaction, modId);
    const removed = present.filter((pair) => names.size === 0 || names.has(pair) || names.has(toKvp(pair).metakey));
    await store.remove(transaction.query, modId, removed);
    if (removed.length === 0) return;
    await modChanged(app, transaction, mod, { userId: caller.userId });
    await auditByGame(app, transaction, caller, mod, { action: 'mods.metadata-remove' });
  });
}

/** Users outside the mod's teams get the error for editing the mod, members without permission the one for metadata. */
async function modFor(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  modId: number,
  refusal: ErrorName,
): Promise<ModRow> {
  const mod = await requireModForChange(transaction, caller, gameId, modId);
  const levels = await levelsOf(transaction, caller, mod);
  if (!mayEdit(levels)) throw new ApiError(levels.mod + levels.game > 0 ? refusal : 'MOD_NO_UPDATE_PERMISSION');
  return mod;
}
