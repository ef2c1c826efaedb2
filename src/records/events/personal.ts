import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalEvents: PersonalData = {
  columns: [
    {
      table: 'user_events',
      column: 'user_id',
      exported: ['id', 'game_id', 'mod_id', 'event_type', 'date_added'],
      whenDeleted: 'erased',
      // Merging records new events for the subscriptions that the remaining account takes over.
      whenMerged: 'dropped',
    },
    {
      table: 'mod_events',
      column: 'user_id',
      exported: ['id', 'game_id', 'mod_id', 'event_type', 'date_added'],
      whenDeleted: retained('games read the events of mods for 90 days; the id alone does not reveal a name'),
      whenMerged: 'moved',
    },
  ],
};
