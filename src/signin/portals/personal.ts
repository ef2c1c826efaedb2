import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { moveRows } from '../../platform/database/personal.ts';
import type { EndingAccount, PersonalData } from '../../platform/personal-data.ts';
import { rewriteNames } from './accounts.ts';
import * as store from './store.ts';

/**
 * Moves the portal accounts at once, so that the next sign-in through a portal reaches the remaining account or creates
 * a new one.
 */
async function ending(_: App, transaction: Transaction, account: EndingAccount, to?: EndingAccount): Promise<void> {
  if (!to) return store.removeAllOf(transaction.query, account.id);
  await moveRows(transaction.query, columns, account.id, to.id);
  await rewriteNames(transaction, to.id);
}

const columns: PersonalData['columns'] = [
  {
    table: 'portal_accounts',
    column: 'user_id',
    exported: ['portal', 'portal_id', 'game_id', 'display_name', 'avatar', 'date_added', 'date_used'],
    whenDeleted: 'erased',
    whenMerged: 'moved',
  },
  {
    table: 'email_confirmations',
    column: 'user_id',
    exported: ['email', 'date_expires'],
    whenDeleted: 'erased',
    whenMerged: 'dropped',
  },
];

export const personalPortals: PersonalData = {
  columns,
  traces: [
    { table: 'portal_tickets', column: 'ip', because: 'is deleted with the ticket, which is valid for a day at most' },
  ],
  ending,
};
