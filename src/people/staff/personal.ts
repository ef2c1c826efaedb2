import { notExported, retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

/** Staff accounts can neither be deleted nor merged; former ones remain as `added_by` of others. */
export const personalStaff: PersonalData = {
  columns: [
    {
      table: 'site_staff',
      column: 'user_id',
      exported: ['level', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
    {
      table: 'site_staff',
      column: 'added_by',
      exported: notExported('only the site staff see its list'),
      whenDeleted: retained('a decision about the site'),
      whenMerged: 'moved',
    },
  ],
};
