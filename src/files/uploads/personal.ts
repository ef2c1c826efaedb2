import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type PersonalData, STEP_ROWS } from '../../platform/personal-data.ts';
import { removeUpload } from './removal.ts';
import * as store from './store.ts';

async function removeAll(app: App, transaction: Transaction, uploads: readonly store.UploadRow[]): Promise<boolean> {
  for (const upload of uploads) await removeUpload(app, transaction, upload);
  return uploads.length === STEP_ROWS;
}

export const personalUploads: PersonalData = {
  columns: [
    {
      table: 'uploads',
      column: 'user_id',
      exported: ['upload_id', 'game_id', 'mod_id', 'filename', 'status', 'total', 'date_added'],
      whenDeleted: 'step',
      whenMerged: 'moved',
    },
  ],
  erasing: async (app, transaction, userId) =>
    removeAll(app, transaction, await store.ofUser(transaction, userId, STEP_ROWS)),
  moving: async (app, transaction, from, to) =>
    removeAll(app, transaction, await store.doubled(transaction, from, to, STEP_ROWS)),
};
