import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalDecisions: PersonalData = {
  columns: [
    {
      table: 'moderation_decisions',
      column: 'user_id',
      exported: ['id', 'game_id', 'resource', 'resource_id', 'action', 'reason', 'date_added'],
      whenDeleted: retained('a decision over what others made, which they may appeal'),
      whenMerged: 'moved',
    },
  ],
};
