import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalTerms: PersonalData = {
  columns: [
    {
      table: 'selling_terms',
      column: 'changed_by',
      exported: ['id', 'game_id', 'terms', 'date_added'],
      whenDeleted: retained('a decision of the team that explains past sales'),
      whenMerged: 'moved',
    },
  ],
};
