import type { Migration } from '../../../platform/database/migrate.ts';

/** Where players may filter by the tags of a group: names with commas between them, and all platforms if empty. */
export const migration: Migration = {
  name: '2026-11-16-files-tag-platforms',
  up: ({ text }) => [`alter table game_tag_groups add column platforms ${text} not null default ''`],
};
