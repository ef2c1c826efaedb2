import { z } from 'zod';
import { LogoObject, toLogo } from '../../catalogue/games/object.ts';
import {
  DISPLAY_TEXTS,
  displayText,
  percentagePositive,
  wilsonLowerBound,
} from '../../catalogue/mods/rating-scores.ts';
import { toUserObject, UserObject } from '../../people/users/object.ts';
import type { App } from '../../platform/app.ts';
import { Id, Integer, Timestamp } from '../../platform/http/objects.ts';
import { plainText } from '../../platform/text/markup.ts';
import { PLATFORMS, type Portal } from '../../platform/vocabulary/game-platforms.ts';
import { CATEGORIES, COLLECTION_TAGS, categoryName, tagsOf } from './categories.ts';
import type { ShownCollection } from './collections.ts';
import { limitOf } from './contents.ts';
import type { CollectionView, Contents } from './store.ts';

const publishedPlatform = (name: string): string => name.toUpperCase().replace(/^PS(?=\d)/, 'PLAYSTATION');

/** The platform names in collections: upper case, and PlayStation in full. */
const PUBLISHED_PLATFORMS = ['ALL', ...PLATFORMS.map(publishedPlatform)];

const CollectionStatsObject = z
  .object({
    collection_id: Id,
    mods_total: Integer.meta({ description: 'The number of its public mods.' }),
    downloads_today: Integer.meta({ description: 'The sum over all its mods.' }),
    downloads_unique: Integer.meta({
      description: 'The maximum over its mods: a lower bound of the number of distinct downloaders.',
    }),
    downloads_total: Integer.meta({ description: 'The sum over all its mods.' }),
    followers_total: Integer,
    comments_total: Integer,
    ratings_total: Integer,
    ratings_positive: Integer,
    ratings_negative: Integer,
    ratings_positive_30_days: Integer,
    ratings_percentage_positive: Integer,
    ratings_weighted_aggregate: z.number(),
    ratings_display_text: z.enum(DISPLAY_TEXTS),
  })
  .meta({ id: 'CollectionStats' });

export const ModCollectionObject = z
  .object({
    id: Id,
    game_id: Id,
    game_name: z.string(),
    status: Integer,
    visible: Integer.meta({
      description: '0 hidden, 1 public. A number, because the C++ SDK cannot read a boolean here.',
    }),
    submitted_by: UserObject,
    category: z.enum(Object.values(CATEGORIES)),
    date_added: Timestamp,
    date_updated: Timestamp,
    date_live: Timestamp,
    date_disabled: Timestamp,
    limit_number_mods: Integer,
    maturity_option: Integer.meta({ description: 'The combined options of its mods.' }),
    filesize: Integer,
    filesize_uncompressed: Integer,
    platforms: z.array(z.enum(PUBLISHED_PLATFORMS)),
    tags: z.array(z.enum(COLLECTION_TAGS)),
    stats: CollectionStatsObject,
    logo: LogoObject,
    name: z.string(),
    name_id: z.string(),
    summary: z.string(),
    description: z.string(),
    description_plaintext: z.string(),
  })
  .meta({ id: 'ModCollection', description: 'Statistics include only its public mods.' });

/** In a game without platforms every mod is for all of them. */
const EVERYWHERE = ['ALL'] as const;

const NOTHING = {
  mods_total: 0,
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
    game_name: collection.game_name,
    status: collection.status,
    visible: collection.visible,
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
    platforms: collection.has_platforms === 1 ? contents.platforms.map(publishedPlatform) : [...EVERYWHERE],
    tags: tagsOf(collection.tags),
    stats: toStats(collection, contents),
    logo: toLogo(app, collection.logo),
    name: collection.name,
    name_id: collection.name_id,
    summary: collection.summary,
    description: collection.description,
    description_plaintext: plainText(collection.description),
  };
}

function toStats(collection: CollectionView, contents: Contents): z.input<typeof CollectionStatsObject> {
  const { ratings_positive, ratings_negative } = collection;
  const ratings_total = ratings_positive + ratings_negative;
  return {
    collection_id: collection.id,
    mods_total: contents.mods_total,
    downloads_today: contents.downloads_today,
    downloads_unique: contents.downloads_most,
    downloads_total: contents.downloads_total,
    followers_total: collection.followers_total,
    comments_total: collection.comments_total,
    ratings_total,
    ratings_positive,
    ratings_negative,
    ratings_positive_30_days: Number(collection.ratings_recent),
    ratings_percentage_positive: percentagePositive(ratings_positive, ratings_total),
    ratings_weighted_aggregate: wilsonLowerBound(ratings_positive, ratings_total),
    ratings_display_text: displayText(ratings_positive, ratings_total),
  };
}
