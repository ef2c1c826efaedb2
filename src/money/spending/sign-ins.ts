import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import type { Terms } from '../terms/terms.ts';
import * as store from './store.ts';

const HOUR = 3_600;

export type Guard =
  | 'unverified'
  | 'old-sign-in'
  | 'new-sign-in'
  | 'wash-trading'
  | 'purchases-of-user'
  | 'tokens-of-user'
  | 'purchases-of-address'
  | 'purchases-of-game'
  | 'packs-of-user'
  | 'payments-of-address';

/** What a client can name as the reason: the account, the sign-in, the mod or the wallet. */
const FIELDS: Readonly<Partial<Record<ErrorName, string>>> = {
  MONETIZATION_ACCOUNT_ERROR: 'email',
  MONETIZATION_AUTH_ERROR: 'token',
  MONETIZATION_REQUEST_ERROR: 'mod_id',
};

/** A purchase that a rule against fraud refuses; the audit log gets it after the transaction was rolled back. */
export class GuardedError extends ApiError {
  readonly guard: Guard;
  constructor(guard: Guard, error: ErrorName) {
    super(error, { fields: [{ field: FIELDS[error] ?? 'wallet', rule: 'invalid' }] });
    this.guard = guard;
  }
}

/** Whether the terms ask anything of the sign-in. */
export const limitsSignIns = ({ sign_in_hours_min, sign_in_hours_max }: Terms): boolean =>
  sign_in_hours_min > 0 || sign_in_hours_max > 0;

/** A stolen token spends nothing while its owner can still notice the sign-in; a new account has nothing to steal. */
export async function requireTrustedSignIn(
  app: App,
  reader: Pick<Database, 'first'>,
  { tokenId }: UserCaller,
  user: { readonly date_joined: number },
  terms: Terms,
): Promise<void> {
  if (!limitsSignIns(terms)) return;
  const { sign_in_hours_min, sign_in_hours_max } = terms;
  const now = app.clock.now();
  const signedIn = (await store.dateOfSignIn(reader, tokenId)) ?? now;
  if (sign_in_hours_max > 0 && now - signedIn > sign_in_hours_max * HOUR)
    throw new GuardedError('old-sign-in', 'MONETIZATION_AUTH_ERROR');
  const isNew = (date: number) => now - date < sign_in_hours_min * HOUR;
  if (isNew(signedIn) && !isNew(user.date_joined)) throw new GuardedError('new-sign-in', 'MONETIZATION_WALLET_ERROR');
}
