import { hasAccepted } from '../../people/agreements/acceptances.ts';
import { AGREEMENT_TYPES } from '../../people/agreements/types.ts';
import { changeUser, requireUserForChange } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import * as store from './store.ts';

export type { SellerAccountRow, SellerStatus } from './store.ts';

/** Bits of the `monetization_status` of users. */
export const STATUS = { PENDING: 1, REJECTED: 2, ACTION: 8, APPROVED: 16, MEMBER: 32 } as const;

const BIT: Readonly<Record<store.SellerStatus, number>> = {
  pending: STATUS.PENDING,
  rejected: STATUS.REJECTED,
  action: STATUS.ACTION,
  approved: STATUS.APPROVED,
};

const PURPOSE = 'seller-accounts';

/** Who is paid, and where. Only the user and the staff that decides read it. */
export interface SellerDetails {
  readonly legal_name: string;
  readonly country: string;
  readonly payout_details: string;
}

const purposeOf = (userId: number): string => `${PURPOSE}/${userId}`;

export const detailsOf = (app: App, { user_id, details }: Pick<store.SellerAccountRow, 'user_id' | 'details'>) =>
  JSON.parse(app.secrets.unseal(purposeOf(user_id), details)) as SellerDetails;

const PAYPAL = /^paypal:\s*[^\s@]+@[^\s@]+$/i;

/** Whether the user registered a PayPal account, written as `paypal:` and its mail address. */
export async function hasPayPal(app: App, transaction: Transaction, userId: number): Promise<boolean> {
  const account = await store.accountOf(transaction, userId);
  return account !== undefined && PAYPAL.test(detailsOf(app, account).payout_details);
}

/** A user registers as a seller, or corrects what staff objected to. */
export async function registerSeller(app: App, { userId }: UserCaller, details: SellerDetails) {
  if (app.settings.monetization === 'off') throw new ApiError('MONETIZATION_SITE_MONETIZATION_DISABLED');
  return app.db.write(async (transaction) => {
    await requireUserForChange(transaction, userId);
    if (!(await hasAccepted(transaction, userId, AGREEMENT_TYPES.MONETIZATION)))
      throw new ApiError('MONETIZATION_TERMS_NOT_ACCEPTED');
    const before = await store.accountOf(transaction, userId);
    if (before?.status === 'approved' || before?.status === 'pending')
      throw new ApiError('MONETIZATION_REGISTER_ERROR', { fields: [{ field: 'legal_name', rule: 'taken' }] });
    const row = await store.putAccount(transaction.query, {
      user_id: userId,
      details: app.secrets.seal(purposeOf(userId), JSON.stringify(details)),
      status: 'pending',
      reason: '',
      decided_by: 0,
      date_added: app.clock.now(),
      date_decided: 0,
    });
    await showStatus(transaction, userId);
    return row;
  });
}

/** What a user registered as a seller; undefined if they did not. */
export const findSeller = async (reader: Pick<Database, 'first'>, userId: number) => store.accountOf(reader, userId);

export async function showSeller(app: App, userId: number): Promise<store.SellerAccountRow> {
  const account = await store.accountOf(app.db, userId);
  if (!account) throw new ApiError('RESOURCE_NOT_FOUND');
  return account;
}

export const listSellers = (
  app: App,
  { admin }: UserCaller,
  status: store.SellerStatus | undefined,
  page: { readonly limit: number; readonly offset: number },
) => {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return store.accounts(app.db.query, status, page);
};

/** Staff decides whether what a user earns can be paid out. */
export async function decideOverSeller(
  app: App,
  caller: UserCaller,
  userId: number,
  { status, reason }: { readonly status: store.SellerStatus; readonly reason: string },
): Promise<store.SellerAccountRow> {
  if (!caller.admin) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return app.db.write(async (transaction) => {
    const before = await store.accountOf(transaction, userId);
    if (!before) throw new ApiError('RESOURCE_NOT_FOUND');
    await requireUserForChange(transaction, userId);
    const decided = { status, reason, decided_by: caller.userId, date_decided: app.clock.now() };
    const row = await store.putAccount(transaction.query, { ...before, ...decided });
    await showStatus(transaction, userId);
    const subject = { resource: 'users', id: userId, gameId: 0 };
    await audit(app, transaction, { actor: caller.userId, action: 'users.seller', subject, reason, data: { status } });
    return row;
  });
}

/** Keeps the `monetization_status` of the user in step. */
export async function showStatus(transaction: Transaction, userId: number): Promise<void> {
  const account = await store.accountOf(transaction, userId);
  const member = (await store.isMember(transaction, userId)) ? STATUS.MEMBER : 0;
  await changeUser(transaction, userId, { monetization_status: (account ? BIT[account.status] : 0) | member });
}
