import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    notifications: NotificationsTable;
    notification_modes: { user_id: number; kind: string; mode: string };
    notification_letters: NotificationLettersTable;
  }
}

/** A notification: the recipient, the actor and the subject. */
export interface NotificationsTable {
  id: Generated<number>;
  user_id: number;
  kind: string;
  /** 0 where a team decided, or nobody acted. */
  actor_id: number;
  /** The resource of the subject, such as `mods`; its id, and its game where it has one. */
  resource: string;
  resource_id: number;
  game_id: number;
  /** 0 where it is not about a comment. */
  comment_id: number;
  date_added: number;
  is_read: number;
  /** When it is due for mailing; 0 where it is not mailed, or already in a letter. */
  date_mail: Generated<number>;
  /** The letter that contains it; 0 for none. */
  letter_id: Generated<number>;
}

/** A mail with notifications. Its content stays the same over all attempts to send it. */
export interface NotificationLettersTable {
  id: Generated<number>;
  user_id: number;
  date_added: number;
  /** 0 until it was sent, or dropped because the account is gone. */
  date_sent: number;
}
