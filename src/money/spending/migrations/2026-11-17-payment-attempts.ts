import type { Migration } from '../../../platform/database/migrate.ts';

export const paymentAttempts: Migration = {
  name: '2026-11-17-payment-attempts',
  up: ({ integer, text }) => [
    `create table payment_attempts (
      payment_id ${integer} primary key, -- no key: rows are forgotten after two days
      user_id ${integer} not null references users (id),
      game_id ${integer} not null references games (id),
      address ${text} not null,
      date_added ${integer} not null
    )`,
    'create index payment_attempts_by_address on payment_attempts (game_id, address, date_added)',
    'create index payment_attempts_by_user on payment_attempts (user_id)',
    'create index payment_attempts_by_date on payment_attempts (date_added)',
  ],
};
