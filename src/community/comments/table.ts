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
  /** The content: its resource as in its path (plural), and its id. */
  resource: string;
  resource_id: number;
  game_id: number;
  submitted_by: number;
  date_added: number;
  /** 0 while it exists. A deleted comment stays without its text, so that its position is not reused. */
  date_deleted: number;
  deleted_by: number;
  /** 1 hidden by a moderator, 3 removed by one. The text stays, so that it can be restored. */
  withheld: Generated<number>;
  /** The parent comment; 0 for none. */
  reply_id: number;
  karma: number;
  /** Bits: 1 pinned, 2 locked. */
  options: number;
  /** "01.02.03": the third reply to the second reply to the first comment. */
  thread_position: string;
  /** The same with digits of equal length, which sort like numbers. */
  thread_order: string;
  /** As written. */
  content: string;
  /** As shown: sanitised markup. */
  markup: string;
  markup_folded: string;
}

export interface CommentVotesTable {
  comment_id: number;
  user_id: number;
  /** 1 or -1. */
  karma: number;
}
