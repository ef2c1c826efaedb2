import type { Migration } from '../../../platform/database/migrate.ts';

const KEY = 'game_id, day, user_id, action';
const INTO = `insert into moderation_days (${KEY}, decisions)`;
const ADDING = `on conflict (${KEY}) do update set decisions = moderation_days.decisions + excluded.decisions`;
const DAY = 'date_added - date_added % 86400';
const BY_PEOPLE = 'user_id <> 0';

const onSqlite = () => {
  const adding = (row: 'new' | 'old', sign: string) => `${INTO}
    select game_id, ${DAY}, user_id, action, ${sign}1 from (select ${row}.game_id as game_id,
      ${row}.date_added as date_added, ${row}.user_id as user_id, ${row}.action as action) where ${BY_PEOPLE} ${ADDING};`;
  return [
    `create trigger moderation_days_added after insert on moderation_decisions begin ${adding('new', '')} end`,
    `create trigger moderation_days_removed after delete on moderation_decisions begin ${adding('old', '-')} end`,
    `create trigger moderation_days_moved after update of user_id on moderation_decisions
      begin ${adding('old', '-')} ${adding('new', '')} end`,
  ];
};

/** Sums the rows of a statement first: a row that is updated once for each of many others becomes slow. */
const summing = (rows: string) => `${INTO} select game_id, ${DAY}, user_id, action, sum(sign) from (${rows}) as changed
  where ${BY_PEOPLE} group by 1, 2, 3, 4 having sum(sign) <> 0 order by 1, 2, 3, 4 ${ADDING}`;

const onPostgres = () => {
  const [added, removed] = ['select *, 1 as sign from added', 'select *, -1 as sign from removed'];
  const counting = (name: string, rows: string) =>
    `create function ${name}() returns trigger language plpgsql as $$ begin ${summing(rows)}; return null; end $$`;
  const trigger = (name: string, event: string, tables: string) =>
    `create trigger ${name} after ${event} on moderation_decisions referencing ${tables}
      for each statement execute function ${name}()`;
  return [
    counting('moderation_days_added', added),
    counting('moderation_days_removed', removed),
    counting('moderation_days_moved', `${added} union all ${removed}`),
    trigger('moderation_days_added', 'insert', 'new table as added'),
    trigger('moderation_days_removed', 'delete', 'old table as removed'),
    trigger('moderation_days_moved', 'update', 'new table as added old table as removed'),
  ];
};

/**
 * The decisions of each moderator by day, so that statistics of a month need not count them one by one. Triggers, because
 * processes of the last release decide as well. They come before the sums: on PostgreSQL they keep writers out until all
 * rows are counted.
 */
export const moderationDays: Migration = {
  name: '2026-11-18-moderation-days',
  up: ({ integer, text, clustered }, dialect) => [
    `create table moderation_days (
      game_id ${integer} not null, -- no key: repeats the decision's
      day ${integer} not null,
      user_id ${integer} not null, -- no key: repeats the decision's
      action ${text} not null,
      decisions ${integer} not null,
      primary key (${KEY})
    )${clustered}`,
    'create index moderation_days_by_user on moderation_days (user_id)',
    ...(dialect === 'sqlite' ? onSqlite() : onPostgres()),
    `${INTO} select game_id, ${DAY}, user_id, action, count(*) from moderation_decisions where ${BY_PEOPLE}
      group by 1, 2, 3, 4`,
  ],
};
