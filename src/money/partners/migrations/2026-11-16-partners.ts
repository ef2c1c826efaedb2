import type { Migration } from '../../../platform/database/migrate.ts';

export const partnersTables: Migration = {
  name: '2026-11-16-partners',
  up: ({ integer, text }) => [
    `create table seller_accounts (
      user_id ${integer} not null primary key references users (id),
      details ${text} not null,
      status ${text} not null,
      reason ${text} not null,
      decided_by ${integer} not null, -- no key: 0 until staff has decided
      date_added ${integer} not null,
      date_decided ${integer} not null
    )`,
    'create index seller_accounts_by_status on seller_accounts (status, date_added)',
    'create index seller_accounts_by_decider on seller_accounts (decided_by)',
    `create table partners (
      game_id ${integer} not null references games (id),
      user_id ${integer} not null references users (id),
      status ${text} not null,
      reason ${text} not null,
      decided_by ${integer} not null, -- no key: 0 where the criteria decided
      date_added ${integer} not null,
      date_decided ${integer} not null,
      primary key (game_id, user_id)
    )`,
    'create index partners_by_user on partners (user_id)',
    'create index partners_by_decider on partners (decided_by)',
  ],
};
