import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { contribute } from '../../platform/extensions.ts';
import { type ModEdit, modExtensions } from '../mods/extensions.ts';
import { toKvp } from '../mods/metadata-pairs.ts';
import { mayEdit } from '../mods/mods.ts';
import * as store from './store.ts';

export const modExtension = contribute(modExtensions, {
  name: 'metadata',
  fields: async (_, transaction, mod) => metadataFields(await store.pairsOfMod(transaction, mod.id)),
  onEdit: (_, transaction, edit) => replaceMetadata(transaction, edit),
  onRemove: async (_, transaction, mod) => void (await store.removeOfMod(transaction.query, mod.id)),
});

export const metadataFields = (pairs: readonly string[]) => () => ({ metadata_kvp: pairs.map(toKvp) });

async function replaceMetadata(transaction: Transaction, { mod, levels, sent }: ModEdit): Promise<void> {
  const { metadata_kvp: pairs } = sent;
  if (!pairs) return;
  if (!mayEdit(levels)) throw new ApiError('MOD_NO_UPDATE_PERMISSION');
  const [before, after] = [new Set(await store.pairsOfMod(transaction, mod.id)), new Set(pairs)];
  await store.remove(transaction.query, mod.id, [...before.difference(after)]);
  await store.add(transaction.query, mod.id, [...after.difference(before)]);
}
