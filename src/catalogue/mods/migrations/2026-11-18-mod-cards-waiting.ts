import type { Migration } from '../../../platform/database/migrate.ts';

/**
 * The mods that wait for a decision: pending, with a file. Imports could leave a mod with live files on platforms only;
 * their cards get the newest, which `2026-11-18-shown-live-files` then makes live without a platform.
 */
export const modCardsWaiting: Migration = {
  name: '2026-11-18-mod-cards-waiting',
  indexes: () => [
    `create index mod_cards_waiting on mod_cards (game_id, mod_id, status, file_id)
      where status = 0 and file_id is not null`,
  ],
  up: () => [
    `update mod_cards set (file_id, file_link, file_body) =
      (select b.modfile_id, concat(mod_cards.mod_id, '/files/', b.modfile_id, '/download/', substr(b.sha256, 1, 43)), b.body
        from modfile_documents b where b.modfile_id =
          (select max(l.modfile_id) from mod_live_files l where l.mod_id = mod_cards.mod_id))
      where mod_id in (select mod_id from mod_live_files group by mod_id having min(platform) <> '')`,
  ],
};
