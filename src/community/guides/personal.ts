import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalGuides: PersonalData = {
  columns: [
    {
      table: 'guides',
      column: 'submitted_by',
      exported: ['id', 'game_id', 'name', 'name_id', 'status', 'date_added', 'date_live', 'summary', 'description'],
      whenDeleted: retained(
        'what was published stays, under a name that tells nothing; who wants otherwise deletes it first',
      ),
      whenMerged: 'moved',
    },
  ],
  traces: [
    { table: 'guide_visits', column: 'visitor', because: 'a digest of an address with a key, which lasts for a day' },
  ],
};
