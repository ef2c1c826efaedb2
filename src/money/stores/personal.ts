import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { retained } from '../../platform/database/personal.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { EndingAccount, PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

export const personalStores: PersonalData = {
  columns: [
    {
      table: 'store_fulfilments',
      column: 'user_id',
      exported: ['portal', 'reference', 'game_id', 'sku', 'quantity', 'tokens', 'state', 'date_added', 'date_settled'],
      whenDeleted: retained('a purchase at a store counts once, also after the account that used it is gone'),
      whenMerged: 'moved',
    },
    {
      table: 'simulated_purchases',
      column: 'user_id',
      exported: ['id', 'portal', 'game_id', 'sku', 'quantity', 'state', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
    },
  ],
  ending: settlePending,
};

/** A merge waits for the answers of stores, because they belong to one account. A deletion gives them up. */
async function settlePending(app: App, transaction: Transaction, { id }: EndingAccount, to?: EndingAccount) {
  if (!to) await store.giveUpPending(transaction, id, app.clock.now());
  else if (await store.hasPending(transaction, id)) throw new ApiError('USER_CANNOT_MERGE_MONETIZATION_ACCOUNTS');
}
