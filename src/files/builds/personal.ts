import { kept } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalBuilds: PersonalData = {
  columns: [
    {
      table: 'cook_builds',
      column: 'added_by',
      told: ['build_uuid', 'game_id', 'filename', 'date_added'],
      whenDeleted: kept('of the game, which goes on cooking'),
      whenMerged: 'moved',
    },
  ],
};
