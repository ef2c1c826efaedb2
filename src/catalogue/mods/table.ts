import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    mods: ModsTable;
    mod_cards: ModCardsTable;
    mod_documents: ModDocumentsTable;
    mod_stats: ModStatsTable;
    mod_stat_changes: ModStatChangesTable;
    mod_words: ModWordsTable;
    mod_vocabulary: { game_id: number; word: string; mods_count: number };
  }
}

/** `status`: 0 not accepted, 1 accepted, 3 deleted. `visible`: 0 hidden, 1 public. `…_folded`: see `fold`. */
export interface ModsTable {
  id: Generated<number>;
  game_id: number;
  status: number;
  visible: number;
  submitted_by: number;
  date_added: number;
  date_updated: number;
  date_live: number;
  maturity_option: number;
  community_options: number;
  monetization_options: number;
  credit_options: number;
  stock: number;
  price: number;
  tax: number;
  /** 1 while a copyright complaint is open. */
  dmca: number;
  /** These four repeat columns of `mod_stats`, for the indexes that lists are sorted by. */
  downloads_today: number;
  downloads_total: number;
  subscribers_total: number;
  ratings_weighted_aggregate: number;
  /** Higher is more popular; ranks are derived from it. */
  popularity: number;
  name_id: string;
  name: string;
  name_folded: string;
  /** Storage folder of the picture, or null for the placeholder. */
  logo: string | null;
  homepage_url: string | null;
  summary: string;
  metadata_blob_folded: string;
  metadata_blob: string | null;
  /** Sanitised markup. */
  description: string;
}

/**
 * The mod object as JSON in English. `body` lacks its closing brace: `modfile`, `dependencies`, `profile_url`,
 * `submitted_by` and `stats` are appended when it is sent, and the columns for them are repeated here, so that a list
 * reads one row per mod (`putCard`).
 */
export interface ModCardsTable {
  mod_id: number;
  game_id: number;
  status: number;
  visible: number;
  submitted_by: number;
  /** 1 if it depends on other mods. */
  needs: number;
  /** The live file that is shown without a platform, or null. */
  file_id: number | null;
  name_id: string;
  file_body: string | null;
  body: string;
  /** The part of a link to the file before the signature; see `linkedFile`. */
  file_link: string | null;
}

/** The `body` in other languages, for mods with translations. */
export interface ModDocumentsTable {
  mod_id: number;
  language: string;
  body: string;
}

/** The search index: words, and pairs of words. `shown` is 1 for public mods; `popularity` repeats the mod's. */
export interface ModWordsTable {
  game_id: number;
  shown: number;
  word: string;
  popularity: number;
  mod_id: number;
}

export interface ModStatsTable {
  mod_id: number;
  popularity_rank_position: number;
  popularity_rank_total_mods: number;
  downloads_today: number;
  downloads_total: number;
  subscribers_total: number;
  ratings_total: number;
  ratings_positive: number;
  ratings_negative: number;
  ratings_percentage_positive: number;
  ratings_weighted_aggregate: number;
  ratings_display_text: string;
  date_expires: number;
  /** The ranks and `date_expires` as JSON without braces, ready to be inserted into responses. */
  ranked: string;
  /** All other stats, likewise. */
  counted: string;
}

/** Counts that are not yet part of `mod_stats`. */
export interface ModStatChangesTable {
  id: Generated<number>;
  mod_id: number;
  game_id: number;
  downloads_today: number;
  downloads_total: number;
  subscribers_total: number;
  ratings_positive: number;
  ratings_negative: number;
}

/** The stats of the API, in the order of its object. */
export const STATS_COLUMNS = [
  'popularity_rank_position',
  'popularity_rank_total_mods',
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_total',
  'ratings_positive',
  'ratings_negative',
  'ratings_percentage_positive',
  'ratings_weighted_aggregate',
  'ratings_display_text',
  'date_expires',
] as const satisfies readonly (keyof ModStatsTable)[];
