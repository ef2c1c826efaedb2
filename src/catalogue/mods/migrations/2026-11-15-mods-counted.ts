import type { Migration } from '../../../platform/database/migrate.ts';

const COLUMNS = [
  'mod_id',
  'downloads_today',
  'downloads_total',
  'subscribers_total',
  'ratings_total',
  'ratings_positive',
  'ratings_negative',
  'ratings_percentage_positive',
];

/** The figures of mods that there are already, as the store writes them: seventeen digits are every digit of a number. */
export const migration: Migration = {
  name: '2026-11-15-mods-counted',
  up: ({ text }, dialect) => [
    `alter table mod_stats add column counted ${text} not null default ''`,
    `update mod_stats set counted = concat(${COLUMNS.map((name) => `'"${name}":', ${name}, ','`).join(', ')},
      '"ratings_weighted_aggregate":', ${dialect === 'sqlite' ? "format('%!.17g', ratings_weighted_aggregate)" : 'ratings_weighted_aggregate'},
      ',"ratings_display_text":"', ratings_display_text, '"')`,
  ],
};
