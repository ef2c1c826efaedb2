import type { Migration } from '../../../platform/database/migrate.ts';

export const migration: Migration = {
  name: '2026-11-15-releases',
  up: ({ id, integer, text }) => [
    `create table release_guards (user_id ${integer} not null primary key, date_added ${integer} not null,
      code_digest ${text}, attempts ${integer} not null, date_asked ${integer}, date_expires ${integer})`,
    `create table releases (id ${id}, user_id ${integer} not null, actor_id ${integer} not null, game_id ${integer} not null,
      mod_id ${integer} not null, modfile_id ${integer} not null, shown ${integer} not null, ip ${text} not null,
      token_id ${integer}, digest ${text} unique, date_added ${integer} not null, date_expires ${integer} not null)`,
    'create unique index releases_by_user on releases (user_id, actor_id, modfile_id)',
    'create index releases_by_actor on releases (actor_id)',
    'create index releases_by_modfile on releases (modfile_id)',
    'create index releases_by_mod on releases (mod_id)',
    'create index releases_by_end on releases (date_expires)',
    `create table release_newcomers (resource ${text} not null, resource_id ${integer} not null,
      user_id ${integer} not null, guardian_id ${integer} not null, date_added ${integer} not null,
      primary key (resource, resource_id, user_id))`,
    'create index release_newcomers_by_user on release_newcomers (user_id)',
    'create index release_newcomers_by_guardian on release_newcomers (guardian_id)',
  ],
};
