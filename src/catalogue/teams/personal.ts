import { accessChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { retained } from '../../platform/database/personal.ts';
import { type EndingAccount, inOneStep, type PersonalData } from '../../platform/personal-data.ts';
import * as store from './store.ts';

/** A deleted account has no permissions. Leaders must transfer what they lead before. */
async function ending(_: App, transaction: Transaction, account: EndingAccount, to?: EndingAccount): Promise<void> {
  if (!to) await store.removeEverywhere(transaction, account.id);
  if (account.email !== null) {
    // An account without an address takes over the other one's, together with its invitations.
    if (to?.email) await store.readdressInvites(transaction, account.email, to.email);
    else if (!to) await store.removeInvitesTo(transaction, account.email);
  }
  accessChanged(transaction);
}

export const personalSeats: PersonalData = {
  columns: [
    {
      table: 'team_members',
      column: 'user_id',
      exported: ['resource', 'resource_id', 'level', 'position', 'date_added'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['resource', 'resource_id'],
    },
    {
      table: 'team_invites',
      column: 'invited_by',
      exported: ['resource', 'resource_id', 'level', 'position', 'date_added', 'date_actioned'],
      whenDeleted: retained('the invitation stays valid without its inviter'),
      whenMerged: 'moved',
    },
  ],
  traces: [{ table: 'team_invites', column: 'email', because: 'follows the account that has the address' }],
  ending,
  moving: inOneStep((_, transaction, from, to) => store.raiseTo(transaction, from, to)),
  afterwards: (transaction) => accessChanged(transaction),
};
