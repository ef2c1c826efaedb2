import { visibilityChanged } from '../../platform/access/credentials.ts';
import { notExported } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalMutes: PersonalData = {
  columns: [
    {
      table: 'mutes',
      column: 'user_id',
      exported: ['muted_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['muted_id'],
      apart: 'muted_id',
    },
    {
      table: 'mutes',
      column: 'muted_id',
      exported: notExported('only the muting user knows whom they have muted'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['user_id'],
      apart: 'user_id',
    },
  ],
  afterwards: (transaction, userId) => visibilityChanged(transaction, userId),
};
