import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

// A ban holds although the account is deleted: what its person would sign up with again is kept as a digest.

/** Something that only one person has, such as an address. */
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

/** Whoever was banned and had their account deleted gets no other with what they are known by. */
export async function refuseBanned(app: App, transaction: Transaction, identity: Identity): Promise<void> {
  if (await store.isBanned(transaction, digestOf(app, identity))) throw new ApiError('USER_BANNED');
}

/** Returns whether there was such a ban. */
export const forgetBan = (transaction: Transaction, userId: number): Promise<boolean> =>
  store.removeBans(transaction.query, userId);
