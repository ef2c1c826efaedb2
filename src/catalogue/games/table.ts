import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    games: GamesTable;
    game_documents: GameDocumentsTable;
    game_tag_documents: GameTagDocumentsTable;
    game_platforms: GamePlatformsTable;
    game_stats: GameStatsTable;
    game_words: { game_id: number; word: string };
  }
}

/** `…_folded` columns are compared case-insensitively; see `fold`. */
export interface GamesTable {
  id: Generated<number>;
  status: number;
  submitted_by: number;
  date_added: number;
  date_updated: number;
  date_live: number;
  presentation_option: number;
  submission_option: number;
  dependency_option: number;
  curation_option: number;
  profanity_option: number;
  community_options: number;
  monetization_options: number;
  api_access_options: number;
  maturity_options: number;
  revenue_options: number;
  limit_collection_mods: number;
  cloud_cooking_status: number;
  max_stock: number;
  service_features: number;
  /** The number of reports after which content is hidden until the team has reviewed it; 0 for never. */
  takedown_reports: Generated<number>;
  /** The most characters of a mod's summary. */
  summary_length_max: Generated<number>;
  name: string;
  name_folded: string;
  name_id: string;
  summary: string;
  summary_folded: string;
  instructions: string | null;
  instructions_url: string | null;
  instructions_url_folded: string;
  ugc_name: string;
  ugc_name_folded: string;
  token_name: string;
  /** Storage folders of the images, or null for the placeholder. */
  icon: string | null;
  logo: string | null;
  header: string | null;
  /** JSON: six colours. */
  theme: string;
  /** JSON: labels and addresses. */
  other_urls: string;
}

/**
 * The game object as JSON. `body` lacks its closing brace: `tag_options`, `stats` and `submitted_by` are appended when
 * it is sent.
 */
export interface GameDocumentsTable {
  game_id: number;
  language: string;
  body: string;
}

/** The game's `tag_options` as JSON, separate from the body, because edits of a game seldom touch its tags. */
export interface GameTagDocumentsTable {
  game_id: number;
  language: string;
  tags: string;
  tags_with_hidden: string;
}

export interface GamePlatformsTable {
  game_id: number;
  platform: string;
  label: string;
  moderated: number;
  locked: number;
}

export interface GameStatsTable {
  game_id: number;
  mods_count_total: number;
  mods_downloads_today: number;
  mods_downloads_total: number;
  mods_downloads_daily_average: number;
  mods_subscribers_total: number;
  date_expires: number;
}
