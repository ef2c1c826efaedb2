import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { reviewPicture } from '../../platform/images/pictures.ts';
import { forgetTranslations } from '../../platform/text/translations.ts';
import { removeMonthsOfMod } from '../../records/metrics/counting.ts';
import { releaseHold } from '../rules/evaluation.ts';
import { removeTeamOf } from '../teams/teams.ts';
import { modExtensions } from './extensions.ts';
import * as store from './store.ts';

/** Rows of higher resources may refer to rows of lower ones, so the highest resource is called first. */
const highestFirst = (app: App) => app.extensions.of(modExtensions).toReversed();

/** Ends what a deleted mod must not keep, even if it is restored later. */
export async function endForDeletedMod(app: App, transaction: Transaction, mod: store.ModRow): Promise<void> {
  for (const { onDelete } of highestFirst(app)) await onDelete?.(app, transaction, mod);
}

/**
 * Removes every row of a mod, its own row last: until then concurrent changes of the mod wait for it. Its events stay for
 * 90 days, so that clients that were offline learn of the deletion.
 */
export async function removeModRows(app: App, transaction: Transaction, mod: store.ModRow): Promise<void> {
  for (const { onRemove } of highestFirst(app)) await onRemove?.(app, transaction, mod);
  await removeMonthsOfMod(transaction, mod);
  await releaseHold(transaction, 'mods', mod.id);
  await removeTeamOf(transaction, 'mods', mod.id);
  await forgetTranslations(transaction.query, 'mods', mod.id);
  if (mod.logo) await reviewPicture(app, transaction, mod.logo);
  await store.remove(transaction.query, mod.id);
}
