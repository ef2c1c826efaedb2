import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalModfiles: PersonalData = {
  columns: [
    {
      table: 'modfiles',
      column: 'submitted_by',
      exported: [
        'id',
        'game_id',
        'mod_id',
        'filename',
        'filesize',
        'version',
        'changelog',
        'metadata_blob',
        'date_added',
      ],
      whenDeleted: retained('it belongs to the mod, which has a team'),
      whenMerged: 'moved',
    },
  ],
};
