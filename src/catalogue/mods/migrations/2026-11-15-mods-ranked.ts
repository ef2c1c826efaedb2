import type { Migration } from '../../../platform/database/migrate.ts';

/** The ranks of mods that there are already, as the store writes them. */
export const migration: Migration = {
  name: '2026-11-15-mods-ranked',
  up: ({ text }) => [
    `alter table mod_stats add column ranked ${text} not null default ''`,
    `update mod_stats set ranked = concat('"popularity_rank_position":', popularity_rank_position,
      ',"popularity_rank_total_mods":', popularity_rank_total_mods, ',"date_expires":', date_expires)`,
  ],
};
