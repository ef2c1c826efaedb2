import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

// A ban outlives the account: the identities with which its owner could sign up again are stored as digests.

/** Something that identifies one person, such as an email address. */
export type Identity = `email ${string}` | `portal ${string}`;

const digestOf = (app: App, identity: Identity) => app.secrets.digest(`banned ${identity}`);

export async function rememberBan(
  app: App,
  transaction: Transaction,
  userId: number,
  identities: readonly Identity[],
): Promise<void> {
  const date_added = app.clock.now();
  for (const identity of identities)
    await store.addBan(transaction.query, { digest: digestOf(app, identity), user_id: userId, date_added });
}

/** Refuses a sign-up with an identity of a banned, deleted account. */
export async function refuseBanned(app: App, transaction: Transaction, identity: Identity): Promise<void> {
  if (await store.isBanned(transaction, digestOf(app, identity))) throw new ApiError('USER_BANNED');
}

/** Returns whether there was such a ban. */
export const removeBan = (transaction: Transaction, userId: number): Promise<boolean> =>
  store.removeBans(transaction.query, userId);
