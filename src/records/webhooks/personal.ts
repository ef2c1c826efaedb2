import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalWebhooks: PersonalData = {
  columns: [
    {
      table: 'webhooks',
      column: 'added_by',
      exported: ['id', 'game_id', 'name', 'url', 'date_added'],
      whenDeleted: retained('it belongs to the game'),
      whenMerged: 'moved',
    },
  ],
};
