import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Database } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { detailsOf, findSeller, type SellerAccountRow } from '../partners/sellers.ts';
import type { PayoutGateway } from './gateway.ts';
import { payoutGatewayOf } from './gateways.ts';
import * as store from './store.ts';

/** The provider of new payouts. */
export function requirePayoutGateway(app: App): PayoutGateway {
  const gateway = payoutGatewayOf(app);
  if (!gateway) throw new ApiError('MONETIZATION_IAP_NOT_CONFIGURED');
  return gateway;
}

const refused = (error: ErrorName): ApiError =>
  new ApiError(error, { fields: [{ field: 'account', rule: 'invalid' }] });

/** Only sellers whom staff approved are paid; each other state has its own error. */
export async function requireApproved(reader: Pick<Database, 'first'>, userId: number): Promise<SellerAccountRow> {
  const seller = await findSeller(reader, userId);
  if (!seller) throw refused('MONETIZATION_ACCOUNT_ERROR');
  if (seller.status === 'rejected') throw new ApiError('MONETIZATION_USER_MONETIZATION_DISABLED');
  if (seller.status === 'action') throw refused('MONETIZATION_ONBOARD_ERROR');
  if (seller.status === 'pending') throw new ApiError('MONETIZATION_USER_NOT_APPROVED');
  return seller;
}

/** The seller's account at the provider, which is opened if there is none. */
async function accountAt(app: App, gateway: PayoutGateway, userId: number): Promise<string> {
  const seller = await requireApproved(app.db, userId);
  const known = await store.accountOf(app.db, userId, gateway.name);
  if (known !== undefined) return known;
  const { country, payout_details: details } = detailsOf(app, seller);
  const account = await gateway.openAccount(app, { userId, country, details });
  const row = { user_id: userId, provider: gateway.name, account, date_added: app.clock.now() };
  await app.db.write(async ({ query }) => void (await store.addAccount(query, row)));
  return (await store.accountOf(app.db, userId, gateway.name)) ?? account;
}

/** The account to which a payout goes. The provider has to be ready to pay to it. */
export async function requireReadyAccount(app: App, gateway: PayoutGateway, userId: number): Promise<string> {
  const account = await accountAt(app, gateway, userId);
  if (!(await gateway.isReady(app, account))) throw refused('MONETIZATION_ONBOARD_ERROR');
  return account;
}

export interface Onboarding {
  readonly provider: string;
  readonly isReady: boolean;
  /** Where the seller enters what the provider asks for; empty if nothing is missing. */
  readonly url: string;
}

/** What the seller still has to tell the provider. */
export async function onboard(app: App, { userId }: UserCaller): Promise<Onboarding> {
  const gateway = requirePayoutGateway(app);
  const account = await accountAt(app, gateway, userId);
  const isReady = await gateway.isReady(app, account);
  return { provider: gateway.name, isReady, url: isReady ? '' : await gateway.onboardingUrl(app, account) };
}
