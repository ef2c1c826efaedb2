import { notExported } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalSpending: PersonalData = {
  columns: [
    {
      table: 'spending',
      column: 'user_id',
      exported: notExported('counts of two days; the purchases themselves are exported'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'payment_attempts',
      column: 'user_id',
      exported: notExported('counts of two days; the payments themselves are exported'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'spending_refusals',
      column: 'user_id',
      once: ['game_id', 'guard', 'date_hour'],
      exported: ['game_id', 'guard', 'date_hour'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
    {
      table: 'clawbacks',
      column: 'user_id',
      exported: ['game_id', 'tokens', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
  ],
};
