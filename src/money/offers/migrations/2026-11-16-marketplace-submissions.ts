import type { Migration } from '../../../platform/database/migrate.ts';

export const marketplaceSubmissionsTable: Migration = {
  name: '2026-11-16-offers-marketplace-submissions',
  up: ({ integer, text }) => [
    `create table marketplace_submissions (
      mod_id ${integer} primary key references mods (id) on delete cascade,
      game_id ${integer} not null references games (id),
      submitted_by ${integer} not null references users (id),
      status ${text} not null,
      reason ${text} not null,
      decided_by ${integer} not null, -- no key: 0 until the team has decided
      date_added ${integer} not null,
      date_decided ${integer} not null
    )`,
    'create index marketplace_submissions_by_game on marketplace_submissions (game_id, status, date_added)',
    'create index marketplace_submissions_by_user on marketplace_submissions (submitted_by)',
    'create index marketplace_submissions_by_decider on marketplace_submissions (decided_by)',
  ],
};
