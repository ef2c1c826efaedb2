import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { notExported, retained } from '../../platform/database/personal.ts';
import { type PersonalData, STEP_ROWS } from '../../platform/personal-data.ts';
import { invalidateCollection } from './access.ts';
import { countRating } from './ratings.ts';
import * as store from './store.ts';

type Change = (id: number) => Promise<void>;

/** Locks each collection that the user follows or has rated. Returns true while there are more. */
async function eachOf(transaction: Transaction, userId: number, change: Change): Promise<boolean> {
  const ids = await store.ratedOrFollowedBy(transaction, userId, STEP_ROWS);
  for (const id of ids) {
    const collection = await store.rowForChange(transaction, id);
    await change(id);
    if (collection) invalidateCollection(transaction, collection);
  }
  return ids.length === STEP_ROWS;
}

async function endFollowing(transaction: Transaction, id: number, userId: number): Promise<void> {
  if (await store.unfollow(transaction, id, userId)) await store.count(transaction, id, { followers_total: -1 });
}

async function takeBackRating(app: App, transaction: Transaction, id: number, userId: number): Promise<void> {
  const rated = await store.ratingOf(transaction, id, userId);
  if (rated) await countRating(app, transaction, id, { ...rated, by: -1 });
  await store.unrate(transaction, id, userId);
}

const erasing = (app: App, transaction: Transaction, userId: number): Promise<boolean> =>
  eachOf(transaction, userId, async (id) => {
    await endFollowing(transaction, id, userId);
    await takeBackRating(app, transaction, id, userId);
  });

/** If both accounts follow or rate a collection, it counts once, with the rating of the remaining account. */
const moving = (app: App, transaction: Transaction, from: number, to: number): Promise<boolean> =>
  eachOf(transaction, from, async (id) => {
    if (await store.isFollower(transaction, id, to)) await endFollowing(transaction, id, from);
    else await store.moveFollower(transaction, id, from, to);
    if (await store.ratingOf(transaction, id, to)) await takeBackRating(app, transaction, id, from);
    else await store.moveRating(transaction, id, from, to);
  });

export const personalCollections: PersonalData = {
  columns: [
    {
      table: 'collections',
      column: 'submitted_by',
      exported: ['id', 'game_id', 'name', 'name_id', 'status', 'visible', 'date_added', 'summary', 'description'],
      whenDeleted: retained(
        'published content stays under an anonymous name; users can delete it before they delete the account',
      ),
      whenMerged: 'moved',
    },
    {
      table: 'collections',
      column: 'deleted_by',
      exported: notExported('it belongs to another user’s collection'),
      whenDeleted: retained('it is a decision of the team or the author'),
      whenMerged: 'moved',
    },
    {
      table: 'collection_followers',
      column: 'user_id',
      exported: ['collection_id', 'date_added'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
    {
      table: 'collection_ratings',
      column: 'user_id',
      exported: ['collection_id', 'rating', 'date_added'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
  ],
  erasing,
  moving,
};
