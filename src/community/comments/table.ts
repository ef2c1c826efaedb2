import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    comments: CommentsTable;
    comment_mentions: { comment_id: number; user_id: number };
    comment_votes: CommentVotesTable;
  }
}

export interface CommentsTable {
  id: Generated<number>;
  /** What is commented on: the resource as in its path (plural), and its id. */
  resource: string;
  resource_id: number;
  game_id: number;
  submitted_by: number;
  date_added: number;
  /** 0 while it is there. What was deleted stays without its text, so that no position is given twice. */
  date_deleted: number;
  deleted_by: number;
  /** 1 hidden by those who decide over it, 3 taken away by them; with its text, so that it can come back. */
  withheld: Generated<number>;
  /** The comment that it replies to, and 0 for none. */
  reply_id: number;
  karma: number;
  /** Bits: 1 pinned, 2 locked. */
  options: number;
  /** "01.02.03": the third reply to the second reply to the first comment. */
  thread_position: string;
  /** The same in figures of equal length, which sort as numbers do. */
  thread_order: string;
  /** As it was written. */
  content: string;
  /** As it is shown: markup, sanitised. */
  markup: string;
  markup_folded: string;
}

export interface CommentVotesTable {
  comment_id: number;
  user_id: number;
  /** 1 or -1. */
  karma: number;
}
