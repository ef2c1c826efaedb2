import type { PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

export const personalFollows: PersonalData = {
  columns: [
    {
      table: 'follows',
      column: 'user_id',
      exported: ['followed_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['followed_id'],
      apart: 'followed_id',
    },
    {
      table: 'follows',
      column: 'followed_id',
      exported: ['user_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['user_id'],
      apart: 'user_id',
    },
  ],
  /** After a merge the account may follow users whom the other account had blocked, or be followed by them. */
  afterwards: async (transaction, userId) => void (await store.removeBlocked(transaction, userId)),
};
