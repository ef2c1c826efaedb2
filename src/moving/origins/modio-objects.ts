/** Objects of the dialect, as far as an import reads them. Everything may be missing: other servers differ. */
export interface User {
  readonly id: number;
  readonly name_id?: string;
  readonly username?: string;
  readonly date_online?: number;
  readonly date_joined?: number;
  readonly timezone?: string;
  readonly language?: string;
  readonly avatar?: { readonly original?: string } | readonly [];
}

interface Picture {
  readonly filename?: string;
  readonly original?: string;
}

export interface Mod extends Record<string, unknown> {
  readonly id: number;
  readonly game_id: number;
  readonly name?: string;
  readonly price?: number;
  readonly stock?: number;
  readonly date_updated?: number;
  readonly submitted_by: User;
  readonly logo?: Picture;
  readonly media?: { readonly youtube?: string[]; readonly sketchfab?: string[]; readonly images?: Picture[] };
  readonly metadata_kvp?: { readonly metakey: string; readonly metavalue: string }[];
  readonly tags?: { readonly name: string; readonly date_added?: number }[];
  readonly dependencies?: boolean;
  readonly modfile?: { readonly id?: number } | null;
  readonly platforms?: { readonly platform: string; readonly modfile_live: number }[];
  readonly stats?: Record<string, unknown>;
}

export interface Modfile extends Record<string, unknown> {
  readonly id: number;
  readonly mod_id: number;
  readonly filename?: string;
  readonly filehash?: { readonly md5?: string; readonly sha256?: string };
  readonly download?: { readonly binary_url?: string };
  readonly platforms?: { readonly platform: string; readonly status: number }[];
}

export interface Game extends Record<string, unknown> {
  readonly id: number;
  readonly submitted_by?: User;
  readonly icon?: Picture;
  readonly logo?: Picture;
  readonly header?: Picture;
  readonly other_urls?: unknown[];
  readonly theme?: object;
  readonly platforms?: {
    readonly platform: string;
    readonly label?: string;
    readonly moderated?: boolean;
    readonly locked?: boolean;
  }[];
  readonly tag_options?: {
    readonly name: string;
    readonly type?: string;
    readonly tags: readonly string[];
    readonly hidden?: boolean;
    readonly locked?: boolean;
  }[];
}

export interface Comment extends Record<string, unknown> {
  readonly id: number;
  readonly user: User;
}

export interface Guide extends Record<string, unknown> {
  readonly id: number;
  readonly user: User;
  readonly logo?: Picture;
  readonly tags?: { readonly name: string; readonly date_added?: number }[];
}

export interface Collection extends Record<string, unknown> {
  readonly id: number;
  readonly submitted_by: User;
  readonly logo?: Picture;
  readonly category?: string;
  readonly tags?: readonly string[];
}

export interface Member {
  readonly id: number;
  readonly user: User;
  readonly level: number;
  readonly position?: string;
  readonly date_added?: number;
  readonly invite_pending?: number;
}

export interface List<T> {
  readonly data: readonly T[];
  readonly result_total?: number;
}

/** Fields that have the same name and meaning as a column. */
export const GAME_FIELDS = [
  ...['id', 'status', 'date_added', 'date_updated', 'date_live', 'presentation_option', 'submission_option'],
  ...['dependency_option', 'curation_option', 'profanity_option', 'community_options', 'maturity_options'],
  ...[
    'api_access_options',
    'limit_collection_mods',
    'ugc_name',
    'name',
    'name_id',
    'summary',
    'instructions',
    'instructions_url',
  ],
];
export const MOD_FIELDS = [
  ...['id', 'game_id', 'status', 'visible', 'date_added', 'date_updated', 'date_live', 'maturity_option'],
  ...[
    'community_options',
    'credit_options',
    'name_id',
    'name',
    'homepage_url',
    'summary',
    'description',
    'metadata_blob',
  ],
];
export const FILE_FIELDS = [
  'id',
  'mod_id',
  'date_added',
  'date_updated',
  'version',
  'changelog',
  'metadata_blob',
  'filename',
];
export const STATS_FIELDS = [
  ...['popularity_rank_position', 'popularity_rank_total_mods', 'downloads_today', 'downloads_total'],
  ...['subscribers_total', 'ratings_total', 'ratings_positive', 'ratings_negative', 'ratings_percentage_positive'],
  ...['ratings_weighted_aggregate', 'ratings_display_text', 'date_expires'],
];
export const COMMENT_FIELDS = ['id', 'date_added', 'reply_id', 'thread_position', 'karma', 'content', 'options'];
export const GUIDE_FIELDS = [
  ...['id', 'game_id', 'date_added', 'date_updated', 'date_live', 'status', 'name', 'name_id', 'summary'],
  ...['description', 'community_options'],
];
export const COLLECTION_FIELDS = [
  ...['id', 'game_id', 'status', 'visible', 'date_added', 'date_updated', 'date_live', 'date_disabled'],
  ...['name', 'name_id', 'summary', 'description'],
];

/** These fields, without those that are missing, null or not plain values. */
export function pick(object: Record<string, unknown>, names: readonly string[]): Record<string, string | number> {
  const found: Record<string, string | number> = {};
  for (const name of names) {
    const value = object[name];
    if (typeof value === 'string' || typeof value === 'number') found[name] = value;
    else if (typeof value === 'boolean') found[name] = Number(value);
  }
  return found;
}
