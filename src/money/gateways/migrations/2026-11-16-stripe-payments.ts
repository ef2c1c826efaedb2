import type { Migration } from '../../../platform/database/migrate.ts';

export const stripePaymentsTable: Migration = {
  name: '2026-11-16-stripe-payments',
  up: ({ integer, text }) => [
    `create table stripe_payments (
      reference ${text} not null primary key,
      stripe_object ${text} not null,
      date_added ${integer} not null
    )`,
  ],
};
