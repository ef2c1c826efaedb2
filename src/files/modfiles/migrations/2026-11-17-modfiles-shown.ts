import type { Migration } from '../../../platform/database/migrate.ts';

/** The files that can wait for a platform, with what their queue counts, sorts and filters by. Rows are 30 times as wide. */
export const modfilesShown: Migration = {
  name: '2026-11-17-modfiles-shown',
  indexes: () => [
    `create index modfiles_shown on modfiles (id, game_id, mod_id, submitted_by, date_added)
      where status = 1 and withdrawn = 0`,
  ],
  up: () => [],
};
