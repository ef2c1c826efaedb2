import { z } from 'zod';
import type { App } from '../../context.ts';
import { Id, Integer, Timestamp } from '../../http/objects.ts';
import type { Portal } from '../../platforms.ts';
import { LogoObject, toLogo } from '../games/object.ts';
import { toUserObject, UserObject } from '../users/object.ts';
import { CATEGORIES, COLLECTION_TAGS, categoryName, tagsOf } from './categories.ts';
import type { ShownCollection } from './collections.ts';
import { limitOf } from './contents.ts';

export const CollectionStatsObject = z
  .object({
    collection_id: Id,
    downloads_today: Integer.meta({ description: 'Of all mods in it together.' }),
    downloads_unique: Integer.meta({
      description: 'Of the mod in it that has most: so many different people have downloaded from it at least.',
    }),
    downloads_total: Integer.meta({ description: 'Of all mods in it together.' }),
    followers_total: Integer,
    ratings_positive_30_days: Integer,
  })
  .meta({ id: 'CollectionStats' });

export const ModCollectionObject = z
  .object({
    id: Id,
    game_id: Id,
    status: Integer,
    visible: z.boolean(),
    submitted_by: UserObject,
    category: z.enum(Object.values(CATEGORIES)),
    date_added: Timestamp,
    date_updated: Timestamp,
    date_live: Timestamp,
    date_disabled: Timestamp,
    limit_number_mods: Integer,
    maturity_option: Integer.meta({ description: 'All that its mods have together.' }),
    filesize: Integer,
    filesize_uncompressed: Integer,
    platforms: z.array(z.string()),
    tags: z.array(z.enum(COLLECTION_TAGS)),
    stats: CollectionStatsObject,
    logo: LogoObject,
    name: z.string(),
    name_id: z.string(),
    summary: z.string(),
    description: z.string(),
  })
  .meta({ id: 'ModCollection', description: 'Figures are those of the mods in it that everyone sees.' });

/** Where a game has no platforms, its mods are for all of them. */
const EVERYWHERE = ['ALL'];

const NOTHING = {
  maturity_option: 0,
  filesize: 0,
  filesize_uncompressed: 0,
  downloads_today: 0,
  downloads_total: 0,
  downloads_most: 0,
  platforms: [],
};

export function toModCollection(
  app: App,
  { collection, submitter, contents = NOTHING }: ShownCollection,
  portal: Portal | undefined,
): z.input<typeof ModCollectionObject> {
  return {
    id: collection.id,
    game_id: collection.game_id,
    status: collection.status,
    visible: collection.visible === 1,
    submitted_by: toUserObject(app, submitter, portal),
    category: categoryName(collection.category),
    date_added: collection.date_added,
    date_updated: collection.date_updated,
    date_live: collection.date_live,
    date_disabled: collection.date_disabled,
    limit_number_mods: limitOf(collection.limit_mods, collection.game_limit),
    maturity_option: contents.maturity_option,
    filesize: contents.filesize,
    filesize_uncompressed: contents.filesize_uncompressed,
    platforms: collection.has_platforms === 1 ? contents.platforms.map((name) => name.toUpperCase()) : EVERYWHERE,
    tags: tagsOf(collection.tags),
    stats: {
      collection_id: collection.id,
      downloads_today: contents.downloads_today,
      downloads_unique: contents.downloads_most,
      downloads_total: contents.downloads_total,
      followers_total: collection.followers_total,
      ratings_positive_30_days: Number(collection.ratings_recent),
    },
    logo: toLogo(app, collection.logo),
    name: collection.name,
    name_id: collection.name_id,
    summary: collection.summary,
    description: collection.description,
  };
}
