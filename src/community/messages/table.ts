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
  /** When the last message came. */
  date_updated: number;
}

export interface MessageMembersTable {
  thread_id: number;
  user_id: number;
  /** 0 invited, 1 in the thread, 2 left or declined. */
  status: number;
  /** 0 for those who are in it since it began. */
  invited_by: number;
  date_added: number;
  /** Messages that came since they last read. */
  unread: number;
  last_read_id: number;
}

export interface MessagesTable {
  id: Generated<number>;
  thread_id: number;
  user_id: number;
  /** Whether it began the thread. */
  first: number;
  date_added: number;
  /** 0 while it is there. What was deleted stays without its text, so that it still counts against the limits. */
  date_deleted: number;
  /** As it was written. */
  content: string;
  /** As it is shown: markup, sanitised. */
  markup: string;
}
