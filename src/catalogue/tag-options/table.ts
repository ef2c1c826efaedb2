import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    game_tag_groups: GameTagGroupsTable;
    game_tags: GameTagsTable;
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
  /** The platforms on which players may filter by its tags, separated by commas. Empty for all. */
  platforms: Generated<string>;
}

export interface GameTagsTable {
  id: Generated<number>;
  group_id: number;
  name: string;
  position: number;
  mods_count: number;
}
