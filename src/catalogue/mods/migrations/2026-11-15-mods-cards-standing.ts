import type { Migration } from '../../../platform/database/migrate.ts';

/** What decides who may see a mod stands with what they see. */
export const migration: Migration = {
  name: '2026-11-15-mods-cards-standing',
  up: ({ integer }) => [
    ...['game_id', 'status', 'visible'].map(
      (name) => `alter table mod_cards add column ${name} ${integer} not null default 0`,
    ),
    `update mod_cards set (game_id, status, visible) =
      (select m.game_id, m.status, m.visible from mods m where m.id = mod_cards.mod_id)`,
  ],
};
