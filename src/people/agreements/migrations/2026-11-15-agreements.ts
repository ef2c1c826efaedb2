import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-agreements',
  up: ({ id, integer, text }) => [
    `create table agreement_versions (id ${id}, type ${integer} not null, name ${text} not null,
      changelog ${text} not null, description ${text} not null, user_id ${integer}, date_added ${integer} not null,
      date_updated ${integer} not null, date_live ${integer} not null, is_active ${integer} not null,
      date_deleted ${integer})`,
    'create index agreement_versions_by_type on agreement_versions (type, id)',
    'create unique index agreement_versions_in_force on agreement_versions (type) where is_active = 1',
    `create table agreement_acceptances (id ${id}, user_id ${integer} not null, version_id ${integer} not null,
      game_id ${integer} not null, date_added ${integer} not null, unique (user_id, version_id, game_id))`,
  ],
};
