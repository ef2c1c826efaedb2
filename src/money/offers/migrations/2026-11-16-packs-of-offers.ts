import type { Migration } from '../../../platform/database/migrate.ts';

export const offerPacksTable: Migration = {
  name: '2026-11-16-packs-of-offers',
  up: ({ integer }) => [
    `create table offer_packs (
      mod_id ${integer} primary key references mods (id) on delete cascade,
      pack_id ${integer} not null references token_packs (id)
    )`,
    'create index offer_packs_by_pack on offer_packs (pack_id, mod_id)',
  ],
};
