import type { Migration } from '../../../platform/database/migrate.ts';

/** Imports could leave a mod without a live file for clients that name no platform, for whom `''` stands. */
export const shownLiveFiles: Migration = {
  name: '2026-11-18-shown-live-files',
  up: () => [
    `insert into mod_live_files (mod_id, platform, modfile_id)
      select mod_id, '', max(modfile_id) from mod_live_files group by mod_id having min(platform) <> ''`,
  ],
};
