import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalBuilds: PersonalData = {
  columns: [
    {
      table: 'cook_builds',
      column: 'added_by',
      exported: ['build_uuid', 'game_id', 'filename', 'date_added'],
      whenDeleted: retained('it belongs to the game, which continues to use it'),
      whenMerged: 'moved',
    },
  ],
};
