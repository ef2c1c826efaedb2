import type { Migration, Schema } from '../platform/database/migrate.ts';
import { gamesSchema } from './schema-games.ts';
import { modsSchema } from './schema-mods.ts';

/** Ids of members start at 1. */
const FIRST_INVITE_ID = 1_000_000_001;

const teams: Schema = ({ id, integer, text }, dialect) => [
  `create table team_members (
    id ${id},
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    user_id ${integer} not null references users (id),
    level ${integer} not null,
    position ${text} not null,
    date_added ${integer} not null,
    unique (resource, resource_id, user_id)
  )`,
  'create index team_members_by_user on team_members (user_id, resource)',
  `create table team_invites (
    id ${id},
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    email ${text} not null,
    level ${integer} not null,
    position ${text} not null,
    invited_by ${integer} not null references users (id),
    date_added ${integer} not null,
    date_actioned ${integer}
  )`,
  'create unique index team_invites_open on team_invites (resource, resource_id, email) where date_actioned is null',
  'create index team_invites_by_email on team_invites (email)',
  'create index team_invites_by_inviter on team_invites (invited_by, date_added)',
  // One list shows members and invitations, so their ids must not overlap.
  dialect === 'sqlite'
    ? `insert into sqlite_sequence (name, seq) values ('team_invites', ${FIRST_INVITE_ID - 1})`
    : `alter table team_invites alter column id restart with ${FIRST_INVITE_ID}`,
];

const previews: Schema = ({ id, integer, text }) => [
  `create table previewers (
    id ${id},
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    user_id ${integer} not null references users (id),
    invited_by ${integer} references users (id),
    date_added ${integer} not null,
    unique (resource, resource_id, user_id)
  )`,
  'create index previewers_by_user on previewers (user_id)',
  `create table preview_links (
    resource ${text} not null,
    resource_id ${integer} not null, -- no key: of any resource
    version ${integer} not null,
    primary key (resource, resource_id)
  )`,
];

/** The tables of the catalogue in version 0.2.0. */
export const catalogueSchema: Migration = {
  name: '2026-11-16-schema-catalogue',
  up: (...types) => [...gamesSchema(...types), ...modsSchema(...types), ...teams(...types), ...previews(...types)],
};
