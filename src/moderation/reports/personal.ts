import { cleared, notExported, retained } from '../../platform/database/personal.ts';
import { inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

const STILL_WRONG = retained('the reported problem remains when an account is deleted');

export const personalReports: PersonalData = {
  columns: [
    {
      table: 'reports',
      column: 'user_id',
      exported: [
        'id',
        'resource',
        'resource_id',
        'game_id',
        'type',
        'reason',
        'date_added',
        'name',
        'contact',
        'summary',
      ],
      whenDeleted: cleared({ name: '', contact: '' }),
      whenMerged: 'moved',
    },
    {
      table: 'reports',
      column: 'author_id',
      exported: notExported('reporters rely on anonymity'),
      whenDeleted: STILL_WRONG,
      whenMerged: 'moved',
    },
    {
      table: 'reports',
      column: 'resource_id',
      where: "resource = 'users'",
      exported: notExported('reporters rely on anonymity'),
      whenDeleted: STILL_WRONG,
      whenMerged: 'moved',
    },
    {
      table: 'reports',
      column: 'resolved_by',
      exported: ['id', 'resource', 'resource_id', 'date_resolved', 'resolution'],
      whenDeleted: retained('it is a decision of the team'),
      whenMerged: 'moved',
    },
  ],
  moving: inOneStep((_, transaction, from, to) => store.dropDoubled(transaction, from, to)),
};
