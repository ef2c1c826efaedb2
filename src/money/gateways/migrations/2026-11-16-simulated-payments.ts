import type { Migration } from '../../../platform/database/migrate.ts';

export const simulatedPaymentsTable: Migration = {
  name: '2026-11-16-simulated-payments',
  up: ({ integer, text }) => [
    `create table simulated_payments (
      reference ${text} not null primary key,
      amount ${integer} not null,
      currency ${text} not null,
      description ${text} not null,
      outcome ${text} not null,
      date_due ${integer} not null,
      date_added ${integer} not null
    )`,
  ],
};
