import type { Migration } from '../../../platform/database/migrate.ts';

export const sellingTermsTable: Migration = {
  name: '2026-11-16-selling-terms',
  up: ({ id, integer, text }) => [
    `create table selling_terms (
      id ${id},
      game_id ${integer} not null references games (id),
      changed_by ${integer} not null, -- no key, stays: 0 for the operator
      terms ${text} not null,
      date_added ${integer} not null
    )`,
    'create index selling_terms_by_game on selling_terms (game_id, id)',
    'create index selling_terms_by_user on selling_terms (changed_by)',
  ],
};
