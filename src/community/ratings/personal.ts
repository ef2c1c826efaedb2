import { lockMods } from '../../catalogue/mods/mods.ts';
import { countRating } from '../../catalogue/stats/stats.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type PersonalData, STEP_ROWS } from '../../platform/personal-data.ts';
import * as store from './store.ts';

/** A batch of the user’s ratings. Locks their mods in the order that every counter uses. */
async function someOf(transaction: Transaction, userId: number) {
  const ratings = await store.someOf(transaction, userId, STEP_ROWS);
  const mods = await lockMods(
    transaction,
    ratings.map(({ resource_id }) => resource_id),
  );
  return { ratings, mods };
}

async function takeBack(app: App, transaction: Transaction, rated: store.RatingRow, mod: Mod | undefined) {
  await store.remove(transaction, rated);
  const difference = rated.rating > 0 ? { positive: -1 } : { negative: -1 };
  if (mod) await countRating(app, transaction, mod, difference);
}
type Mod = { readonly id: number; readonly game_id: number };

async function erasing(app: App, transaction: Transaction, userId: number): Promise<boolean> {
  const { ratings, mods } = await someOf(transaction, userId);
  for (const rated of ratings) await takeBack(app, transaction, rated, mods.get(rated.resource_id));
  return ratings.length === STEP_ROWS;
}

/** If both accounts rated the same content, the rating of the remaining account counts. */
async function moving(app: App, transaction: Transaction, from: number, to: number): Promise<boolean> {
  const { ratings, mods } = await someOf(transaction, from);
  for (const rated of ratings)
    if ((await store.ratingOf(transaction, { ...rated, user_id: to })) === 0)
      await store.move(transaction, rated.id, to);
    else await takeBack(app, transaction, rated, mods.get(rated.resource_id));
  return ratings.length === STEP_ROWS;
}

export const personalRatings: PersonalData = {
  columns: [
    {
      table: 'ratings',
      column: 'user_id',
      exported: ['game_id', 'resource', 'resource_id', 'rating', 'date_added'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
  ],
  erasing,
  moving,
};
