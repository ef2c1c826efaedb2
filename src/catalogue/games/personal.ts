import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

/** Whoever leads a game that is not deleted neither deletes their account nor gives it up. */
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
