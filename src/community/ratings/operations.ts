import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { MessageObject, ModPath, page, pageOf } from '../../platform/http/objects.ts';
import { Created, created, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { RatingObject, toRating } from './object.ts';
import { rateMod, ratingListing, ratingsOf } from './ratings.ts';

export const addModRating = operation({
  id: 'add-mod-rating',
  tag: 'Ratings',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/ratings',
  says: 'Rates a mod: 1, -1 if the game allows it, or 0 to remove the rating. A different rating replaces the first.',
  access: user('write'),
  params: ModPath,
  body: z.object({ rating: z.int().min(-1).max(1) }),
  returns: created(MessageObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    'MOD_NOT_ACCEPTED',
    'RATING_RESOURCE_ALREADY_RATED',
    'RATING_RESOURCE_NOT_RATED',
  ],
  handle: async (app, { caller, params, body, language }) => {
    const { game_id: gameId, mod_id: modId } = params;
    await rateMod(app, caller, { gameId, modId, rating: body.rating });
    const message = localise(body.rating === 0 ? 'rating_removed' : 'rating_added', language);
    return new Created({ code: 201, message }, `${app.addresses.api}/me/ratings`);
  },
});

export const getUserRatings = operation({
  id: 'get-user-ratings',
  tag: 'Me',
  method: 'GET',
  path: '/me/ratings',
  says: 'Lists the user’s ratings.',
  access: user('read'),
  list: ratingListing,
  returns: ok(pageOf(RatingObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const { ratings, total } = await ratingsOf(app, caller, list);
    return page(ratings.map(toRating), total, list);
  },
});

export const ratingOperations = [addModRating, getUserRatings];
