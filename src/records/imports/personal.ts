import type { PersonalData } from '../../platform/personal-data.ts';

export const personalImports: PersonalData = {
  columns: [
    {
      table: 'imported_ids',
      column: 'new_id',
      where: "resource = 'users'",
      exported: ['source', 'old_id'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
  ],
};
