import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalMarketplaceLocks: PersonalData = {
  columns: [
    {
      table: 'marketplace_locks',
      column: 'user_id',
      once: [],
      exported: ['reason', 'date_added'],
      whenDeleted: 'erased',
      // A lock is not lost by merging the account.
      whenMerged: 'moved',
    },
    {
      table: 'marketplace_locks',
      column: 'decided_by',
      exported: notExported('a decision over someone else; the audit log has it'),
      whenDeleted: retained('a decision of staff, under an id that tells no name'),
      whenMerged: 'moved',
    },
  ],
};
