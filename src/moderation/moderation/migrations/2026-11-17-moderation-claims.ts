import type { Migration } from '../../../platform/database/migrate.ts';

export const moderationClaims: Migration = {
  name: '2026-11-17-moderation-claims',
  up: ({ integer, text }) => [
    `create table moderation_claims (
      resource ${text} not null,
      resource_id ${integer} not null, -- no key, stays: of any resource; a claim expires by itself
      game_id ${integer} not null references games (id),
      user_id ${integer} not null references users (id),
      date_expires ${integer} not null,
      primary key (resource, resource_id)
    )`,
    'create index moderation_claims_by_game on moderation_claims (game_id, date_expires)',
    'create index moderation_claims_by_user on moderation_claims (user_id)',
    // -1: decisions before this migration cannot be undone, and nobody knows how long their content waited.
    `alter table moderation_decisions add column status_before ${integer} not null default -1`,
    `alter table moderation_decisions add column status_after ${integer} not null default -1`,
    `alter table moderation_decisions add column waited ${integer} not null default -1`,
    // With all that statistics read, so that they need the index alone.
    'create index moderation_decisions_by_game on moderation_decisions (game_id, date_added, user_id, action, waited)',
    `create table moderation_snapshots (
      decision_id ${integer} primary key references moderation_decisions (id) on delete cascade,
      author_id ${integer} not null references users (id),
      fields ${text} not null
    )`,
    'create index moderation_snapshots_by_author on moderation_snapshots (author_id)',
  ],
};
