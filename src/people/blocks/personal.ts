import { visibilityChanged } from '../../platform/access/credentials.ts';
import { notExported } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalBlocks: PersonalData = {
  columns: [
    {
      table: 'blocks',
      column: 'user_id',
      exported: ['blocked_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['blocked_id'],
      apart: 'blocked_id',
    },
    {
      table: 'blocks',
      column: 'blocked_id',
      exported: notExported('only the blocking user knows whom they have blocked'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['user_id'],
      apart: 'user_id',
    },
  ],
  afterwards: (transaction, userId) => visibilityChanged(transaction, userId),
};
