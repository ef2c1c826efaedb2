import type { PersonalData } from '../../platform/personal-data.ts';

export const personalDevices: PersonalData = {
  columns: [
    {
      table: 'device_logins',
      column: 'user_id',
      exported: ['game_id', 'scopes', 'date_added', 'date_decided', 'allowed'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
};
