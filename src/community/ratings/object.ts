import { z } from 'zod';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import type { RatingRow } from './ratings.ts';

export const RatingObject = z
  .object({
    game_id: Id,
    mod_id: Integer.meta({ description: '0 if the rated content is not a mod' }),
    resource_type: z.enum(['mods', 'collections']),
    resource_id: Id,
    rating: Integer.meta({ description: '1 or -1' }),
    date_added: Timestamp,
  })
  .meta({ id: 'Rating' });

export const toRating = (row: RatingRow): z.input<typeof RatingObject> => ({
  game_id: row.game_id,
  mod_id: row.resource === 'mods' ? row.resource_id : 0,
  resource_type: row.resource as 'mods' | 'collections',
  resource_id: row.resource_id,
  rating: row.rating,
  date_added: row.date_added,
});
