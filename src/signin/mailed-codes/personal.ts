import type { PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

const BECAUSE = 'is deleted with the account, and a day after the code has expired';

export const personalCodes: PersonalData = {
  columns: [
    {
      table: 'known_places',
      column: 'user_id',
      exported: ['date_seen'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['digest'],
    },
  ],
  traces: [
    { table: 'email_codes', column: 'email', because: BECAUSE },
    { table: 'email_codes', column: 'ip', because: BECAUSE },
  ],
  ending: async (_, { query }, { id, email }) => {
    await store.removeKnownPlaces(query, id);
    if (email !== null) await store.removeCodes(query, email);
  },
};
