import { kept } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalEvents: PersonalData = {
  columns: [
    {
      table: 'user_events',
      column: 'user_id',
      told: ['id', 'game_id', 'mod_id', 'event_type', 'date_added'],
      whenDeleted: 'erased',
      // What the other account had subscribed to is told anew to the one that has it now.
      whenMerged: 'dropped',
    },
    {
      table: 'mod_events',
      column: 'user_id',
      told: ['id', 'game_id', 'mod_id', 'event_type', 'date_added'],
      whenDeleted: kept('games hear of what happened to mods, for 90 days; the id alone tells no name'),
      whenMerged: 'moved',
    },
  ],
};
