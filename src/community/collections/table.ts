import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    collections: CollectionsTable;
    collection_mods: CollectionModsTable;
    collection_tags: { collection_id: number; tag: string };
    collection_words: { collection_id: number; word: string };
    collection_followers: CollectionFollowersTable;
    collection_ratings: CollectionRatingsTable;
    collection_rating_days: CollectionRatingDaysTable;
  }
}

/** `status`: 0 not accepted, 1 accepted, 3 deleted. `visible`: 0 hidden, 1 public. `…_folded`: see `fold`. */
export interface CollectionsTable {
  id: Generated<number>;
  game_id: number;
  status: number;
  visible: number;
  submitted_by: number;
  category: number;
  date_added: number;
  date_updated: number;
  date_live: number;
  /** When it was deleted, and 0 while it is not. */
  date_disabled: number;
  /** How many mods it may hold; 0 where the game's limit holds. */
  limit_mods: number;
  followers_total: number;
  ratings_positive: number;
  ratings_negative: number;
  comments_total: Generated<number>;
  /** Until this second someone is changing its mods; 0 while nobody is. */
  registering_until: number;
  deleted_by: number;
  name_id: string;
  name: string;
  name_folded: string;
  /** Storage folder of the picture, and null where the placeholder is shown. */
  logo: string | null;
  /** As in `collection_tags`, ready to be shown: joined by commas. */
  tags: string;
  summary: string;
  deleted_reason: string;
  /** Markup, sanitised before it is stored. */
  description: string;
}

/** `place`: the order in which they were put into the collection. */
interface CollectionModsTable {
  collection_id: number;
  mod_id: number;
  place: number;
  date_added: number;
}

interface CollectionFollowersTable {
  collection_id: number;
  user_id: number;
  date_added: number;
}

/** `rating`: 1 or -1. */
export interface CollectionRatingsTable {
  collection_id: number;
  user_id: number;
  rating: number;
  date_added: number;
}

/** How many of the positive ratings that stand were given on a day, counted in days since 1970. */
interface CollectionRatingDaysTable {
  collection_id: number;
  day: number;
  positive: number;
}
