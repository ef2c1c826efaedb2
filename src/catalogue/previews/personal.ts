import { accessChanged } from '../../platform/access/credentials.ts';
import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalPreviews: PersonalData = {
  columns: [
    {
      table: 'previewers',
      column: 'user_id',
      exported: ['resource', 'resource_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['resource', 'resource_id'],
    },
    {
      table: 'previewers',
      column: 'invited_by',
      exported: ['resource', 'resource_id', 'user_id', 'date_added'],
      whenDeleted: retained('the previewer remains without their inviter'),
      whenMerged: 'moved',
    },
  ],
  afterwards: (transaction) => accessChanged(transaction),
};
