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
  /** When it was deleted; 0 otherwise. */
  date_disabled: number;
  /** The maximum number of mods; 0 for the game’s limit. */
  limit_mods: number;
  followers_total: number;
  ratings_positive: number;
  ratings_negative: number;
  comments_total: Generated<number>;
  /** When the claim of a request that changes its mods expires; 0 if there is none. */
  registering_until: number;
  deleted_by: number;
  name_id: string;
  name: string;
  name_folded: string;
  /** The storage folder of the picture; null for the placeholder. */
  logo: string | null;
  /** The tags of `collection_tags` as the object shows them, joined by commas. */
  tags: string;
  summary: string;
  deleted_reason: string;
  /** Sanitised markup. */
  description: string;
}

/** `place`: the order in which the mods were added. */
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

/** The number of current positive ratings that were given on a day, in days since 1970. */
interface CollectionRatingDaysTable {
  collection_id: number;
  day: number;
  positive: number;
}
