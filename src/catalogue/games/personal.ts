import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

/** A leader of a game that is not deleted can neither delete nor merge their account. */
export const personalGames: PersonalData = {
  columns: [
    {
      table: 'games',
      column: 'submitted_by',
      exported: ['id', 'name', 'name_id', 'status', 'date_added', 'summary', 'instructions', 'other_urls'],
      whenDeleted: retained('a deleted game'),
      whenMerged: 'moved',
    },
  ],
};
