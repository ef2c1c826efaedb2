import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalTransactions: PersonalData = {
  columns: [
    {
      table: 's2s_transactions',
      column: 'user_id',
      exported: ['id', 'game_id', 'portal', 'sku', 'mod_id', 'tokens', 'price', 'currency', 'status', 'date_added'],
      whenDeleted: retained('records of payments are kept as the law asks, and the id alone tells no name'),
      whenMerged: 'moved',
    },
  ],
};
