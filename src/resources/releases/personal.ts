import { untold } from '../../database/personal.ts';
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
    {
      table: 'releases',
      column: 'actor_id',
      told: ['id', 'game_id', 'mod_id', 'modfile_id', 'date_added', 'date_expires'],
      whenDeleted: 'erased',
      whenMerged: 'dropped',
    },
    {
      table: 'release_newcomers',
      column: 'user_id',
      told: ['resource', 'resource_id', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['resource', 'resource_id'],
    },
    {
      table: 'release_newcomers',
      column: 'guardian_id',
      told: untold('whom they let into a team is told by the team'),
      whenDeleted: 'erased',
      whenMerged: 'moved',
      apart: 'user_id',
    },
  ],
  ending: async (_, transaction, { id }) => {
    await store.removeOfUser(transaction, id);
  },
};
