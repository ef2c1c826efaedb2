import type { Migration } from '../../../platform/database/migrate.ts';

/** What a row of each table adds to the usage of its game, unless it is deleted. */
const COUNTED = [
  { table: 'mods', watched: ['status'], mods: '1', bytes: '0' },
  { table: 'modfiles', watched: ['status', 'filesize'], mods: '0', bytes: 'filesize' },
] as const;
type Counted = (typeof COUNTED)[number];

const IS_COUNTED = 'status < 3';
const INTO = 'insert into game_usage (game_id, slot, mods, bytes)';
const ADDING = `on conflict (game_id, slot) do update
  set mods = game_usage.mods + excluded.mods, bytes = game_usage.bytes + excluded.bytes`;

/** What one row counts: `new.filesize`, or nothing. */
const countOf = (row: 'new' | 'old', value: string) =>
  `case when ${row}.${IS_COUNTED} then ${value.replace('filesize', `${row}.$&`)} else 0 end`;

const changing = (slot: string, { mods, bytes }: Counted) =>
  `${INTO} values (new.game_id, ${slot}, ${[mods, bytes]
    .map((value) => `${countOf('new', value)} - ${countOf('old', value)}`)
    .join(', ')}) ${ADDING}`;

const onSqlite = (counted: Counted) => {
  const { table, watched, mods, bytes } = counted;
  const one = (row: 'new' | 'old', sign: string) =>
    `${INTO} values (${row}.game_id, 0, ${sign}${countOf(row, mods)}, ${sign}${countOf(row, bytes)}) ${ADDING}`;
  return [
    `create trigger ${table}_used after insert on ${table} begin ${one('new', '')}; end`,
    `create trigger ${table}_freed after delete on ${table} begin ${one('old', '-')}; end`,
    `create trigger ${table}_use_changed after update of ${watched.join(', ')} on ${table}
      begin ${changing('0', counted)}; end`,
  ];
};

/** One of some rows, so that connections that add to a game seldom wait for each other. */
const SLOT = 'pg_backend_pid() % 16';

const counting = (name: string, body: string) =>
  `create function ${name}() returns trigger language plpgsql as $$ begin ${body}; return null; end $$`;

/** Sums the rows of a statement first: a row that is updated once for each of a million others becomes slow. */
const summing = ({ mods, bytes }: Counted, rows: string, sign: string) =>
  `${INTO} select game_id, ${SLOT}, sum(${sign}${mods}), sum(${sign}${bytes}) from ${rows}
    where ${IS_COUNTED} group by game_id ${ADDING}`;

const onPostgres = (counted: Counted) => {
  const { table, watched } = counted;
  const isChanged = watched.map((column) => `old.${column} <> new.${column}`).join(' or ');
  return [
    counting(`${table}_used`, summing(counted, 'added', '')),
    counting(`${table}_freed`, summing(counted, 'removed', '-')),
    counting(`${table}_use_changed`, changing(SLOT, counted)),
    `create trigger ${table}_used after insert on ${table} referencing new table as added
      for each statement execute function ${table}_used()`,
    `create trigger ${table}_freed after delete on ${table} referencing old table as removed
      for each statement execute function ${table}_freed()`,
    `create trigger ${table}_use_changed after update of ${watched.join(', ')} on ${table}
      for each row when (${isChanged}) execute function ${table}_use_changed()`,
  ];
};

/**
 * The number of mods and the size of the files of each game, for its plan. Triggers, because processes of the last release
 * add mods and files as well. They come before the sums: on PostgreSQL they wait for writers, and keep others out until
 * all rows are counted.
 */
export const gameUsage: Migration = {
  name: '2026-11-18-game-usage',
  up: ({ integer, clustered }, dialect) => [
    `create table game_usage (
      game_id ${integer} not null references games (id),
      slot ${integer} not null,
      mods ${integer} not null,
      bytes ${integer} not null,
      primary key (game_id, slot)
    )${clustered}`,
    ...COUNTED.flatMap(dialect === 'sqlite' ? onSqlite : onPostgres),
    ...COUNTED.map(
      ({ table, mods, bytes }) => `${INTO} select game_id, 0, sum(${mods}), sum(${bytes}) from ${table}
        where ${IS_COUNTED} group by game_id ${ADDING}`,
    ),
    // Nothing else adds up the sizes of all files.
    'drop index modfiles_by_game',
  ],
};
