import type { Migration } from '../../../platform/database/migrate.ts';

export const trafficTables: Migration = {
  name: '2026-11-17-traffic',
  up: ({ id, integer, text, clustered }) => [
    `create table limited_requests (
      hour ${integer} not null,
      rule ${text} not null,
      operation ${text} not null,
      caller ${text} not null,
      user_id ${integer} not null, -- no key, stays: 0 where the limit is not that of a user
      refused ${integer} not null,
      date_last ${integer} not null,
      primary key (hour, rule, operation, caller, user_id)
    )${clustered}`,
    'create index limited_requests_by_user on limited_requests (user_id) where user_id > 0',
    `create table slow_requests (
      id ${id},
      operation ${text} not null,
      method ${text} not null,
      path ${text} not null,
      status ${integer} not null,
      milliseconds ${integer} not null,
      date_added ${integer} not null
    )`,
    'create index slow_requests_by_date on slow_requests (date_added)',
  ],
};
