import { kept } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalDecisions: PersonalData = {
  columns: [
    {
      table: 'moderation_decisions',
      column: 'user_id',
      told: ['id', 'game_id', 'resource', 'resource_id', 'action', 'reason', 'date_added'],
      whenDeleted: kept('a decision over what others made, which they may appeal'),
      whenMerged: 'moved',
    },
  ],
};
