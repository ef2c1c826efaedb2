import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalPayouts: PersonalData = {
  columns: [
    {
      table: 'payouts',
      column: 'user_id',
      exported: ['id', 'game_id', 'currency', 'amount', 'fee', 'provider', 'status', 'date_added', 'date_paid'],
      whenDeleted: retained('records of payments are kept as the law asks, and the id alone tells no name'),
      whenMerged: 'moved',
    },
    {
      table: 'payout_accounts',
      column: 'user_id',
      exported: notExported('an id at the payout provider, who exports what it knows'),
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
};
