import type { Migration } from '../../../platform/database/migrate.ts';

export const spendingTables: Migration = {
  name: '2026-11-16-spending',
  up: ({ integer, text }) => [
    `create table spending (
      purchase_id ${integer} primary key, -- no key: rows are forgotten after a day
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      address ${text} not null,
      tokens ${integer} not null,
      date_added ${integer} not null
    )`,
    'create index spending_by_user on spending (user_id, game_id, date_added)',
    'create index spending_by_game on spending (game_id, date_added)',
    'create index spending_by_address on spending (game_id, address, date_added)',
    'create index spending_by_date on spending (date_added)',
    `create table spending_refusals (
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      guard ${text} not null,
      date_hour ${integer} not null,
      primary key (user_id, game_id, guard, date_hour)
    )`,
    'create index spending_refusals_by_date on spending_refusals (date_hour)',
    `create table clawbacks (
      transaction_id ${integer} primary key, -- no key: rows are forgotten
      user_id ${integer} not null, -- no key: accounts are locked before the books
      game_id ${integer} not null references games (id),
      tokens ${integer} not null,
      date_added ${integer} not null
    )`,
    'create index clawbacks_by_user on clawbacks (user_id, game_id, date_added)',
    'create index clawbacks_by_game on clawbacks (game_id, date_added)',
    'create index clawbacks_by_date on clawbacks (date_added)',
  ],
};
