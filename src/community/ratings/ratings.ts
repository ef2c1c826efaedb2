import { MOD_ACCEPTED, requireMod } from '../../catalogue/mods/mods.ts';
import { requireMayRate } from '../../catalogue/restrictions/restrictions.ts';
import { countRating } from '../../catalogue/stats/stats.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Column, Listing, ListRequest } from '../../platform/database/listing.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { answersTo } from '../../platform/database/pipelining.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { RatedResource } from './removal.ts';
import * as store from './store.ts';

export type { RatingRow } from './store.ts';

const integer: Column = { kind: 'integer' };

/** The columns by which lists of ratings can be filtered and sorted. */
export const ratingListing: Listing = {
  from: 'r',
  columns: {
    game_id: integer,
    mod_id: { kind: 'integer', sql: "(case when r.resource = 'mods' then r.resource_id else 0 end)" },
    resource_type: { kind: 'text', sql: 'r.resource' },
    resource_id: integer,
    rating: integer,
    date_added: integer,
  },
  sorts: { game_id: 'r.game_id', resource_id: 'r.resource_id', rating: 'r.rating', date_added: 'r.date_added' },
};

/** 1, -1, or 0 to remove the rating. */
interface NewRating {
  readonly gameId: number;
  readonly resource: RatedResource;
  readonly resourceId: number;
  readonly rating: number;
}

/** Ratings of the same user and content wait for each other. Returns the user's rating. */
async function takeTurn(transaction: Transaction, rated: store.Rated): Promise<number> {
  await takeAdvisoryLock(transaction, `ratings/${rated.user_id}/${rated.resource}/${rated.resource_id}`);
  return store.ratingOf(transaction, rated);
}

/** Stores a user’s only rating of the content after `takeTurn`, and returns how the counters change. */
async function putRating(
  app: App,
  transaction: Transaction,
  userId: number,
  { gameId, resource, resourceId, rating }: NewRating,
  before: number,
): Promise<{ positive: number; negative: number }> {
  const rated = { user_id: userId, resource, resource_id: resourceId };
  if (rating === 0 && before === 0) throw new ApiError('RATING_RESOURCE_NOT_RATED');
  if (rating === before) throw new ApiError('RATING_RESOURCE_ALREADY_RATED');
  if (rating === 0) await store.remove(transaction, rated);
  else await store.put(transaction, { ...rated, game_id: gameId, rating, date_added: app.clock.now() });
  const counted = (value: number) => Number(rating === value) - Number(before === value);
  return { positive: counted(1), negative: counted(-1) };
}

/** The bit of a game’s `community_options` that allows negative ratings. */
const NEGATIVE_RATINGS = 256;

export async function rateMod(
  app: App,
  caller: UserCaller,
  { gameId, modId, rating }: { gameId: number; modId: number; rating: number },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const [mod, , before] = await answersTo([
      requireMod(transaction, caller, gameId, modId),
      requireMayRate(transaction, caller, gameId),
      takeTurn(transaction, { user_id: caller.userId, resource: 'mods', resource_id: modId }),
    ]);
    // Its team and earlier subscribers see the mod, but cannot rate it. An earlier rating can be removed.
    if (rating !== 0 && mod.status !== MOD_ACCEPTED) throw new ApiError('MOD_NOT_ACCEPTED');
    if (rating < 0 && (mod.game_community_options & NEGATIVE_RATINGS) === 0)
      throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'rating', rule: 'negative_rating' }] });
    const which = { gameId, resource: 'mods', resourceId: modId, rating } as const;
    const difference = await putRating(app, transaction, caller.userId, which, before);
    await countRating(app, transaction, mod, difference, caller);
  });
}

export const ratingsOf = (app: App, { userId }: UserCaller, request: ListRequest) =>
  store.listOf(app.db.query, userId, ratingListing, request);
