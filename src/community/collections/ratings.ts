import { requireMayRate } from '../../catalogue/restrictions/restrictions.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { invalidateCollection, requireCollectionForChange } from './access.ts';
import * as store from './store.ts';

const DAY = 86_400;
/** Positive ratings of this many days, including the current one, count as recent. */
const RECENT_DAYS = 30;

const dayOf = (second: number) => Math.floor(second / DAY);

/** Ratings of this day and earlier ones are no longer recent. */
export const firstRecentDay = (app: App): number => dayOf(app.clock.now()) - RECENT_DAYS;

/** When the ratings of the current day become old. */
export const ratingsAgeAt = (now: number): number => (dayOf(now) + 1) * DAY;

/** Rates whether the mods work together: 1 or -1, and 0 removes the rating. */
export async function rateCollection(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  rating: number,
): Promise<void> {
  const { userId } = caller;
  await app.db.write(async (transaction) => {
    const collection = await requireCollectionForChange(transaction, caller, gameId, id);
    await requireMayRate(transaction, caller, gameId);
    const before = await store.ratingOf(transaction, id, userId);
    if (rating === 0 && !before) throw new ApiError('RATING_RESOURCE_NOT_RATED');
    if (rating !== 0 && before?.rating === rating) throw new ApiError('RATING_RESOURCE_ALREADY_RATED');
    const now = app.clock.now();
    if (before) await countRating(app, transaction, id, { ...before, by: -1 });
    if (rating === 0) await store.unrate(transaction, id, userId);
    else {
      await store.rate(transaction, { collection_id: id, user_id: userId, rating, date_added: now });
      await countRating(app, transaction, id, { rating, date_added: now, by: 1 });
    }
    invalidateCollection(transaction, collection);
  });
}

/** Updates the collection’s rating counters. */
export async function countRating(
  app: App,
  transaction: Transaction,
  id: number,
  { rating, date_added, by }: { rating: number; date_added: number; by: 1 | -1 },
): Promise<void> {
  await store.count(transaction, id, rating > 0 ? { ratings_positive: by } : { ratings_negative: by });
  if (rating > 0) await store.countDay(transaction, id, dayOf(date_added), by, firstRecentDay(app));
}
