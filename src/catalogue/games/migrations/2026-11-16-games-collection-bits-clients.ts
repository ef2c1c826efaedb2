import type { Migration } from '../../../platform/database/migrate.ts';

/**
 * Collections and comments on them were bits 4096 and 8192 of `community_options`; the C++ SDK has 8192 and 16384. Both
 * move one place up.
 */
export const migration: Migration = {
  name: '2026-11-16-games-collection-bits-clients',
  up: () => [
    `update games set community_options =
      (community_options - (community_options & 28672)) + (community_options & 12288) * 2`,
  ],
};
