import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    notifications: NotificationsTable;
    notification_offs: { user_id: number; kind: string };
  }
}

/** Something that a person is told of: who did it, and to what. */
export interface NotificationsTable {
  id: Generated<number>;
  user_id: number;
  kind: string;
  actor_id: number;
  /** The plural noun of what it is about, its id, and its game where it has one. */
  resource: string;
  resource_id: number;
  game_id: number;
  /** 0 for what is about no comment. */
  comment_id: number;
  date_added: number;
  is_read: number;
}
