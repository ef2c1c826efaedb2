import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalCooks: PersonalData = {
  columns: [
    {
      table: 'cooks',
      column: 'started_by',
      exported: ['cook_uuid', 'mod_id', 'platform', 'status', 'date_added'],
      whenDeleted: retained('it is part of the mod’s history'),
      whenMerged: 'moved',
    },
  ],
};
