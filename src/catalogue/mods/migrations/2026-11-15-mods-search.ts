import type { Migration } from '../../../platform/database/migrate.ts';

/** Words of mods in the order in which a search shows them. `rebuildWords` fills them for mods that there are already. */
export const migration: Migration = {
  name: '2026-11-15-mods-search',
  up: ({ integer, number, text }, dialect) => [
    'drop table mod_words',
    ...wordsTable(`game_id ${integer} not null, shown ${integer} not null, word ${text} not null,
      popularity ${number} not null, mod_id ${integer} not null`)[dialect],
    'create index mod_words_by_mod on mod_words (mod_id, word)',
    `create table mod_vocabulary (game_id ${integer} not null, word ${text} not null, mods_count ${integer} not null,
      primary key (game_id, word))${dialect === 'sqlite' ? ' without rowid' : ''}`,
  ],
};

const ORDER = '(game_id, shown, word, popularity desc, mod_id)';

/** PostgreSQL has no primary keys in descending order, and SQLite keeps rows in the order of theirs. */
const wordsTable = (columns: string) => ({
  sqlite: [`create table mod_words (${columns}, primary key ${ORDER}) without rowid`],
  postgres: [
    `create table mod_words (${columns}, primary key (mod_id, word))`,
    `create unique index mod_words_in_order on mod_words ${ORDER}`,
  ],
});
