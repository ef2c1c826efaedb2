import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalAgreements: PersonalData = {
  columns: [
    {
      table: 'agreement_acceptances',
      column: 'user_id',
      exported: ['version_id', 'game_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['version_id', 'game_id'],
    },
    {
      table: 'agreement_versions',
      column: 'user_id',
      exported: ['id', 'type', 'name', 'changelog', 'date_added'],
      whenDeleted: retained('users have accepted this text, so it must stay'),
      whenMerged: 'moved',
    },
  ],
  afterwards: (transaction) => transaction.changed('agreements'),
};
