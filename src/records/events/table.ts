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
  /** 1 where everyone may see it, 0 for the teams of the mod and its game only. */
  shown: number;
  /** Whether it is the newest of its type for its mod: of all events, and of the public ones. */
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
