import { removeModFromCollections } from '../../community/collections/pieces.ts';
import { leaveCommentsToJob } from '../../community/comments/pieces.ts';
import { removeRatingsOfMod } from '../../community/ratings/pieces.ts';
import { endSubscriptions, removeSubscriptionsOfMod } from '../../community/subscriptions/pieces.ts';
import { endCooksOfMod, removeCooksOfMod } from '../../files/cooks/pieces.ts';
import { removeModfilesOfMod } from '../../files/modfiles/pieces.ts';
import { removeReleasesOfMod } from '../../files/releases/pieces.ts';
import { removeUploadsOfMod } from '../../files/uploads/pieces.ts';
import { removeVaultOfMod } from '../../files/vaults/pieces.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { reviewPicture } from '../../platform/images/pictures.ts';
import { forgetTranslations } from '../../platform/localisation/translations.ts';
import { removeMonthsOfMod } from '../../records/metrics/pieces.ts';
import { removeDependenciesOfMod } from '../dependencies/pieces.ts';
import { removeFindingsOfMod } from '../findings/pieces.ts';
import { removeMediaOfMod } from '../media/pieces.ts';
import { removeMetadataOfMod } from '../metadata/pieces.ts';
import { endPreviews, forgetPreviews } from '../previews/pieces.ts';
import { forgetHold } from '../rules/pieces.ts';
import { removeHoursOfMod } from '../stats/pieces.ts';
import { removeTagsOfMod } from '../tags/pieces.ts';
import { dissolveTeam } from '../teams/teams.ts';
import * as store from './store.ts';

/**
 * A step of another noun when a mod leaves, within the transaction. As with contributors to the mod object it comes
 * from a file of that noun that imports nothing of this one. What may be long is left to a job that the step enqueues.
 */
type Step = (app: App, transaction: Transaction, mod: store.ModRow) => Promise<void>;

/** What ends when a mod is deleted, though it could be brought back. */
const WHEN_DELETED: readonly Step[] = [
  (_, transaction, mod) => endPreviews(transaction, 'mods', mod.id),
  endSubscriptions,
  endCooksOfMod,
];

/**
 * What goes with a mod for ever: every noun that has rows of it adds its own. Events stay for their 90 days, so that
 * those who were away hear that the mod was deleted.
 */
const WHEN_REMOVED: readonly Step[] = [
  (_, transaction, mod) => removeMetadataOfMod(transaction, mod),
  (_, transaction, mod) => removeTagsOfMod(transaction, mod),
  async (_, transaction, mod) => {
    for (const id of await removeDependenciesOfMod(transaction, mod)) {
      await store.loseDependency(transaction, id);
      transaction.changed(`mods/${id}`);
    }
  },
  (_, transaction, mod) => removeHoursOfMod(transaction, mod),
  (_, transaction, mod) => removeMonthsOfMod(transaction, mod),
  (_, transaction, mod) => forgetHold(transaction, 'mods', mod.id),
  (_, transaction, mod) => removeModFromCollections(transaction, mod),
  (_, transaction, mod) => dissolveTeam(transaction, 'mods', mod.id),
  (_, transaction, mod) => forgetPreviews(transaction, 'mods', mod.id),
  (_, transaction, mod) => forgetTranslations(transaction.query, 'mods', mod.id),
  (app, transaction, mod) => leaveCommentsToJob(app, transaction, 'mods', mod.id),
  (_, transaction, mod) => removeSubscriptionsOfMod(transaction, mod),
  removeRatingsOfMod,
  (_, transaction, mod) => removeFindingsOfMod(transaction, mod),
  (_, transaction, mod) => removeVaultOfMod(transaction, mod),
  (_, transaction, mod) => removeCooksOfMod(transaction, mod),
  (_, transaction, mod) => removeReleasesOfMod(transaction, mod),
  removeModfilesOfMod,
  removeUploadsOfMod,
  removeMediaOfMod,
  async (app, transaction, mod) => void (mod.logo && (await reviewPicture(app, transaction, mod.logo))),
];

export async function whenDeleted(app: App, transaction: Transaction, mod: store.ModRow): Promise<void> {
  for (const step of WHEN_DELETED) await step(app, transaction, mod);
}

/** The mod's own rows go last: until then others who want to change it wait for them. */
export async function removeForEver(app: App, transaction: Transaction, mod: store.ModRow): Promise<void> {
  for (const step of WHEN_REMOVED) await step(app, transaction, mod);
  await store.remove(transaction.query, mod.id);
}
