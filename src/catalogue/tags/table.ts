declare module '../../platform/database/database.ts' {
  interface Tables {
    game_tag_renames: GameTagRenamesTable;
    mod_tags: ModTagsTable;
    mod_tag_pairs: { tag_id: number; other_id: number; mods_count: number };
  }
}

/** A rename in progress: each game has at most one. */
export interface GameTagRenamesTable {
  game_id: number;
  tag_id: number;
  name: string;
  date_added: number;
}

/** `name_folded` is the tag's name in the form in which lists compare it; a rename updates it. */
export interface ModTagsTable {
  mod_id: number;
  tag_id: number;
  name_folded: string;
  date_added: number;
  /** 1 for public mods. */
  shown: number;
  /** A copy of the mod's, because lists of mods with a tag sort by it. */
  popularity: number;
}
