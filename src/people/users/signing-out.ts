import { revokeTokens } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { extensionPoint } from '../../platform/extensions.ts';

/** Ends one kind of access that acts for a user, such as browser sessions, in the transaction of the sign-out. */
export type EndAccess = (app: App, transaction: Transaction, userId: number) => Promise<void>;

export const signOutExtensions = extensionPoint<EndAccess>('users.sign-out');

/** Ends everything that acts for the user. */
export async function signOut(app: App, transaction: Transaction, userId: number): Promise<void> {
  await revokeTokens(app, transaction, { userId });
  for (const endAccess of app.extensions.of(signOutExtensions)) await endAccess(app, transaction, userId);
}
