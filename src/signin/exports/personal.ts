import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { EndingAccount, PersonalData } from '../../platform/personal-data.ts';
import { REMOVE_JOB } from './exports.ts';
import * as store from './store.ts';

/** The link expires at once; a job removes the file and then its row. */
async function ending(app: App, transaction: Transaction, { id }: EndingAccount): Promise<void> {
  await store.expireOf(transaction.query, id, app.clock.now());
  await app.jobs.enqueue(transaction, REMOVE_JOB, {}, { key: `user/${id}` });
}

export const personalExports: PersonalData = {
  columns: [
    {
      table: 'data_exports',
      column: 'user_id',
      exported: ['id', 'date_added', 'date_expires', 'bytes'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
  ],
  ending,
};
