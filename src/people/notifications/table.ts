import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    notifications: NotificationsTable;
    notification_modes: { user_id: number; kind: string; mode: string };
    notification_letters: NotificationLettersTable;
  }
}

/** Something that a person is told of: who did it, and to what. */
export interface NotificationsTable {
  id: Generated<number>;
  user_id: number;
  kind: string;
  /** 0 where a team decided, or nobody did it. */
  actor_id: number;
  /** The plural noun of what it is about, its id, and its game where it has one. */
  resource: string;
  resource_id: number;
  game_id: number;
  /** 0 for what is about no comment. */
  comment_id: number;
  date_added: number;
  is_read: number;
  /** From when on it goes into a mail; 0 where it does not, or is in one. */
  date_mail: Generated<number>;
  /** The mail that it is in, and 0 for none. */
  letter_id: Generated<number>;
}

/** A mail with notifications. What is in it does not change, however often it has to be sent. */
export interface NotificationLettersTable {
  id: Generated<number>;
  user_id: number;
  date_added: number;
  /** 0 until it was sent, or nobody was left to read it. */
  date_sent: number;
}
