import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalRunners: PersonalData = {
  columns: [
    {
      table: 'cook_runners',
      column: 'added_by',
      exported: ['id', 'game_id', 'name', 'platforms', 'date_added'],
      whenDeleted: retained('it belongs to the game, which continues to use it'),
      whenMerged: 'moved',
    },
  ],
};
