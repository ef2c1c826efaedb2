import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    message_threads: MessageThreadsTable;
    message_members: MessageMembersTable;
    messages: MessagesTable;
    message_settings: { user_id: number; accept_from: number };
  }
}

export interface MessageThreadsTable {
  id: Generated<number>;
  subject: string;
  started_by: number;
  date_added: number;
  /** When the last message was added. */
  date_updated: number;
}

export interface MessageMembersTable {
  thread_id: number;
  user_id: number;
  /** 0 invited, 1 in the thread, 2 left or declined. */
  status: number;
  /** 0 for members from the start. */
  invited_by: number;
  date_added: number;
  /** The number of messages since the member last read. */
  unread: number;
  last_read_id: number;
}

export interface MessagesTable {
  id: Generated<number>;
  thread_id: number;
  user_id: number;
  /** 1 if it started the thread. */
  first: number;
  date_added: number;
  /** 0 while it exists. A deleted message stays without its text, because it counts against the limits. */
  date_deleted: number;
  /** As written. */
  content: string;
  /** As shown: sanitised markup. */
  markup: string;
}
