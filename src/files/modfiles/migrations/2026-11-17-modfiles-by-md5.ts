import type { Migration } from '../../../platform/database/migrate.ts';

/** For look-ups of files by their MD5. Look-ups by SHA-256 use the storage key, which contains it. */
export const modfilesByMd5: Migration = {
  name: '2026-11-17-modfiles-by-md5',
  up: () => ['create index modfiles_by_md5 on modfiles (md5, game_id)'],
};
