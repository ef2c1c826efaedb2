import { kept } from '../../database/personal.ts';
import type { PersonalData } from '../../personal.ts';

export const personalModfiles: PersonalData = {
  columns: [
    {
      table: 'modfiles',
      column: 'submitted_by',
      told: ['id', 'game_id', 'mod_id', 'filename', 'filesize', 'version', 'changelog', 'metadata_blob', 'date_added'],
      whenDeleted: kept('it belongs to the mod, which others lead'),
      whenMerged: 'moved',
    },
  ],
};
