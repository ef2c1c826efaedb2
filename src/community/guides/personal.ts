import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalGuides: PersonalData = {
  columns: [
    {
      table: 'guides',
      column: 'submitted_by',
      exported: ['id', 'game_id', 'name', 'name_id', 'status', 'date_added', 'date_live', 'summary', 'description'],
      whenDeleted: retained(
        'published content stays under an anonymous name; users can delete it before they delete the account',
      ),
      whenMerged: 'moved',
    },
  ],
  traces: [{ table: 'guide_visits', column: 'visitor', because: 'a keyed digest of an address, stored for a day' }],
};
