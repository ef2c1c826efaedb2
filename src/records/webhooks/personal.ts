import { kept } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalWebhooks: PersonalData = {
  columns: [
    {
      table: 'webhooks',
      column: 'added_by',
      told: ['id', 'game_id', 'name', 'url', 'date_added'],
      whenDeleted: kept('it belongs to the game'),
      whenMerged: 'moved',
    },
  ],
};
