import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    mod_events: ModEventsTable;
    user_events: UserEventsTable;
  }
}

export interface ModEventsTable {
  id: Generated<number>;
  game_id: number;
  mod_id: number;
  user_id: number;
  event_type: string;
  date_added: number;
  /** Everyone may see it, and not the teams of the mod and its game alone. */
  shown: number;
  /** The newest of its type for its mod: of all, and of those that are shown. */
  newest: number;
  newest_shown: number;
}

export interface UserEventsTable {
  id: Generated<number>;
  game_id: number;
  mod_id: number;
  user_id: number;
  event_type: string;
  date_added: number;
}
