import { retained } from '../../platform/database/personal.ts';
import { inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

export const personalRestrictions: PersonalData = {
  columns: [
    {
      table: 'game_restrictions',
      column: 'user_id',
      exported: ['game_id', 'options', 'reason', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['game_id'],
    },
    {
      table: 'game_restrictions',
      column: 'restricted_by',
      exported: ['game_id', 'user_id', 'options', 'reason', 'date_added'],
      whenDeleted: retained('a decision of the team'),
      whenMerged: 'moved',
    },
  ],
  moving: inOneStep((_, transaction, from, to) => store.addOptionsOf(transaction, from, to)),
};
