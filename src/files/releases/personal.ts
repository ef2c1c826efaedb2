import { moveRows, notExported, type PersonalColumn } from '../../platform/database/personal.ts';
import type { PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

const columns: readonly PersonalColumn[] = [
  {
    table: 'release_guards',
    column: 'user_id',
    exported: ['date_added'],
    whenDeleted: 'erased',
    // The merged account keeps the confirmation.
    whenMerged: 'moved',
    once: [],
  },
  {
    table: 'releases',
    column: 'user_id',
    exported: ['id', 'game_id', 'mod_id', 'modfile_id', 'ip', 'date_added', 'date_expires'],
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
  {
    table: 'releases',
    column: 'actor_id',
    exported: ['id', 'game_id', 'mod_id', 'modfile_id', 'date_added', 'date_expires'],
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
  {
    table: 'release_newcomers',
    column: 'user_id',
    exported: ['resource', 'resource_id', 'date_added'],
    whenDeleted: 'erased',
    whenMerged: 'moved',
    once: ['resource', 'resource_id'],
  },
  {
    table: 'release_newcomers',
    column: 'guardian_id',
    exported: notExported('the export of the team contains its members'),
    whenDeleted: 'erased',
    whenMerged: 'moved',
    apart: 'user_id',
  },
];

export const personalReleases: PersonalData = {
  columns,
  ending: async (_, transaction, { id }, to) => {
    await store.removeOfUser(transaction, id);
    // Seats in teams are moved by a later job, and their guards must be moved before.
    if (to) await moveRows(transaction.query, columns, id, to.id);
  },
};
