import type { Migration } from '../../../platform/database/migrate.ts';

const STATES = [
  ['waiting', 0],
  ['deleted', 3],
] as const;

/** Most content is accepted, so that what is not is found by small indexes of its own, in the order of the queues. */
export const migration: Migration = {
  name: '2026-11-15-site-queues',
  up: () => [
    ...['mods', 'guides', 'collections'].flatMap((table) =>
      STATES.flatMap(([name, status]) => [
        `create index ${table}_${name} on ${table} (id) where status = ${status}`,
        `create index ${table}_${name}_by_game on ${table} (game_id, id) where status = ${status}`,
        `create index ${table}_${name}_by_date on ${table} (date_added, id) where status = ${status}`,
      ]),
    ),
    'create index modfile_platforms_waiting on modfile_platforms (modfile_id, platform) where status = 0',
    'create index reports_by_status on reports (status, resource, resource_id, author_id)',
  ],
};
