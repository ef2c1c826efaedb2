import type { PersonalData } from '../../platform/personal-data.ts';

export const personalDownloads: PersonalData = {
  columns: [],
  traces: [
    {
      table: 'counted_downloads',
      column: 'address',
      because: 'a digest of an address with a key, which lasts for a day',
    },
  ],
};
