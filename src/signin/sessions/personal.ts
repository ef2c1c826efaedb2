import type { PersonalData } from '../../platform/personal-data.ts';

export const personalSessions: PersonalData = {
  columns: [
    {
      table: 'sessions',
      column: 'user_id',
      exported: ['id', 'user_agent', 'date_added', 'date_expires', 'date_revoked'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
};
