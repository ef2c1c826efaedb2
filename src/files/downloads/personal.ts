import type { PersonalData } from '../../platform/personal-data.ts';

export const personalDownloads: PersonalData = {
  columns: [],
  traces: [
    {
      table: 'counted_downloads',
      column: 'address',
      because: 'a keyed digest of an address, stored for a day',
    },
  ],
};
