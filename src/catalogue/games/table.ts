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

/** `…_folded` are the forms in which text is compared; see `fold`. */
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
  /** How many people report a thing before it is hidden until the team has looked; 0 for never. */
  takedown_reports: Generated<number>;
  /** How many characters the summary of a mod may have. */
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
  /** Storage folders of the images, and null where the placeholder is shown. */
  icon: string | null;
  logo: string | null;
  header: string | null;
  /** JSON: six colours. */
  theme: string;
  /** JSON: labels and addresses. */
  other_urls: string;
}

/**
 * The game object as JSON, ready to send but for what changes without it: `body` lacks its closing brace,
 * and gets `tag_options`, `stats` and `submitted_by` behind it.
 */
export interface GameDocumentsTable {
  game_id: number;
  language: string;
  body: string;
}

/** The game's `tag_options` as JSON; apart from the body, because edits of a game seldom touch its tags. */
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
