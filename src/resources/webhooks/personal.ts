import { kept } from '../../database/personal.ts';
import type { PersonalData } from '../../personal.ts';

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
