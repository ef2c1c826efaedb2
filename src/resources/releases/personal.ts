import type { PersonalData } from '../../personal.ts';
import * as store from './store.ts';

export const personalReleases: PersonalData = {
  columns: [
    {
      table: 'release_guards',
      column: 'user_id',
      told: ['date_added'],
      whenDeleted: 'erased',
      // Whoever wanted to be asked goes on being asked.
      whenMerged: 'moved',
      once: [],
    },
    {
      table: 'releases',
      column: 'user_id',
      told: ['id', 'game_id', 'mod_id', 'modfile_id', 'ip', 'date_added', 'date_expires'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
  ],
  ending: async (_, transaction, { id }) => {
    await store.removeOfUser(transaction, id);
  },
};
