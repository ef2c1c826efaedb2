import type { Migration } from '../../../platform/database/migrate.ts';

/** Members count up from 1, invitations from here: one list shows both, and an id in an address tells which it is. */
const FIRST_ID = 1_000_000_001;

export const migration: Migration = {
  name: '2026-11-15-team-invites',
  up: ({ id, integer, text }, dialect) => [
    `create table team_invites (id ${id}, resource ${text} not null, resource_id ${integer} not null,
      email ${text} not null, level ${integer} not null, position ${text} not null, invited_by ${integer} not null,
      date_added ${integer} not null, date_actioned ${integer})`,
    `create unique index team_invites_open on team_invites (resource, resource_id, email)
      where date_actioned is null`,
    'create index team_invites_by_email on team_invites (email)',
    'create index team_invites_by_inviter on team_invites (invited_by, date_added)',
    dialect === 'sqlite'
      ? `insert into sqlite_sequence (name, seq) values ('team_invites', ${FIRST_ID - 1})`
      : `alter table team_invites alter column id restart with ${FIRST_ID}`,
  ],
};
