import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-comments',
  up: ({ id, integer, text }) => [
    `create table comments (id ${id}, resource ${text} not null, resource_id ${integer} not null,
      game_id ${integer} not null, submitted_by ${integer} not null, date_added ${integer} not null,
      date_deleted ${integer} not null, deleted_by ${integer} not null, reply_id ${integer} not null,
      karma ${integer} not null, options ${integer} not null, thread_position ${text} not null,
      thread_order ${text} not null, content ${text} not null, markup ${text} not null, markup_folded ${text} not null)`,
    // Pinned ones come first where nothing else is asked for.
    'create index comments_of_resource on comments (resource, resource_id, date_deleted, (options & 1) desc, id)',
    'create index comments_by_karma on comments (resource, resource_id, date_deleted, karma, id)',
    'create unique index comments_by_position on comments (resource, resource_id, reply_id, thread_order)',
    'create index comments_by_author on comments (submitted_by, date_added)',
    `create table comment_votes (comment_id ${integer} not null, user_id ${integer} not null, karma ${integer} not null,
      primary key (comment_id, user_id))`,
    `create table comment_mentions (comment_id ${integer} not null, user_id ${integer} not null,
      primary key (comment_id, user_id))`,
    'create index comment_mentions_by_user on comment_mentions (user_id, comment_id)',
  ],
};
