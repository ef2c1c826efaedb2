import type { PersonalData } from '../../platform/personal-data.ts';

export const personalFollows: PersonalData = {
  columns: [
    {
      table: 'follows',
      column: 'user_id',
      told: ['followed_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['followed_id'],
      apart: 'followed_id',
    },
    {
      table: 'follows',
      column: 'followed_id',
      told: ['user_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['user_id'],
      apart: 'user_id',
    },
  ],
};
