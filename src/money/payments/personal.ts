import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalPayments: PersonalData = {
  columns: [
    {
      table: 'payments',
      column: 'user_id',
      exported: [
        'id',
        'game_id',
        'tokens',
        'price',
        'tax',
        'currency',
        'provider',
        'status',
        'date_added',
        'date_paid',
      ],
      whenDeleted: retained('records of payments are kept as the law asks, and the id alone tells no name'),
      whenMerged: 'moved',
    },
  ],
};
