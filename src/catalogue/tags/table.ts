import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    game_tag_groups: GameTagGroupsTable;
    game_tags: GameTagsTable;
    game_tag_renames: GameTagRenamesTable;
    mod_tags: ModTagsTable;
    mod_tag_pairs: { tag_id: number; other_id: number; mods_count: number };
  }
}

export interface GameTagGroupsTable {
  id: Generated<number>;
  game_id: number;
  name: string;
  type: string;
  hidden: number;
  locked: number;
  position: number;
  /** On which players may filter by its tags: names with commas between them, and all platforms if empty. */
  platforms: Generated<string>;
}

export interface GameTagsTable {
  id: Generated<number>;
  group_id: number;
  name: string;
  position: number;
  mods_count: number;
}

/** A rename that is not finished: of each game there is one at most. */
export interface GameTagRenamesTable {
  game_id: number;
  tag_id: number;
  name: string;
  date_added: number;
}

/** `name_folded` is the tag's name in the form in which lists compare it; a rename brings it up to date. */
export interface ModTagsTable {
  mod_id: number;
  tag_id: number;
  name_folded: string;
  date_added: number;
  /** 1 for public mods. */
  shown: number;
  /** Repeats the mod's, for the order in which mods of a tag are shown. */
  popularity: number;
}
