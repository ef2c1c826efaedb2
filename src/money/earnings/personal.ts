import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalEarnings: PersonalData = {
  columns: [
    {
      table: 'earnings',
      column: 'user_id',
      exported: ['id', 'game_id', 'mod_id', 'tokens', 'currency', 'amount', 'withheld', 'status', 'date_added'],
      whenDeleted: retained('records of sales are kept as the law asks, and the id alone tells no name'),
      whenMerged: 'moved',
    },
  ],
};
