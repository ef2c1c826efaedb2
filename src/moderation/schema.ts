import type { Migration, Schema } from '../platform/database/migrate.ts';

const reports: Schema = ({ id, integer, text }) => [
  `create table reports (
    id ${id},
    resource ${text} not null,
    resource_id ${integer} not null, -- no key, stays: of any resource; a report outlives what it is about
    game_id ${integer} not null, -- no key: 0 for the site
    author_id ${integer} not null, -- no key: 0 for nobody
    user_id ${integer} not null, -- no key: 0 for nobody
    type ${integer} not null,
    reason ${integer} not null,
    status ${integer} not null,
    date_added ${integer} not null,
    date_resolved ${integer} not null,
    resolved_by ${integer} not null, -- no key: 0 for nobody
    platforms ${text} not null,
    name ${text} not null,
    contact ${text} not null,
    summary ${text} not null,
    resolution ${text} not null,
    rule_id ${integer} not null default 0 -- no key: 0 for none
  )`,
  'create index reports_by_subject on reports (resource, resource_id, status)',
  'create index reports_by_game on reports (game_id, status, resource, resource_id)',
  // A user has one open report of a type about a subject, also with concurrent requests.
  `create unique index reports_open on reports (user_id, resource, resource_id, type) where status = 0 and user_id
    > 0`,
  // A rule has one open report about a subject, however often the content is submitted.
  `create unique index reports_open_by_rule on reports (rule_id, resource, resource_id) where status = 0 and
    rule_id > 0`,
  'create index reports_by_author on reports (author_id, game_id)',
  'create index reports_by_status on reports (status, resource, resource_id, author_id)',
];

const decisions: Schema = ({ id, integer, text }) => [
  `create table moderation_decisions (
    id ${id},
    game_id ${integer} not null, -- no key: 0 for the site
    resource ${text} not null,
    resource_id ${integer} not null, -- no key, stays: of any resource; a decision outlives what it is about
    action ${text} not null,
    reason ${text} not null,
    user_id ${integer} not null, -- no key: 0 for the service itself
    date_added ${integer} not null,
    appeal ${text} not null,
    date_appealed ${integer} not null
  )`,
  'create index moderation_decisions_by_subject on moderation_decisions (resource, resource_id, id)',
];

/** The tables of moderation in version 0.2.0. */
export const moderationSchema: Migration = {
  name: '2026-11-16-schema-moderation',
  up: (...types) => [...reports(...types), ...decisions(...types)],
};
