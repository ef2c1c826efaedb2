import { retained } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';

export const personalReviews: PersonalData = {
  columns: [
    {
      table: 'permission_reviews',
      column: 'requested_by',
      exported: ['id', 'game_id', 'change', 'approved', 'date_added', 'date_expires', 'date_used'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
    {
      table: 'permission_reviews',
      column: 'decided_by',
      exported: ['id', 'game_id', 'approved', 'date_added'],
      whenDeleted: retained('an id that no longer names a user, for 30 days'),
      whenMerged: 'moved',
    },
  ],
};
