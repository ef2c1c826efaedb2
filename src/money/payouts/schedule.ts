import { lockUserRows, USER_ACTIVE } from '../../people/users/users.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { termsOf } from '../terms/terms.ts';
import { payoutGatewayOf } from './gateways.ts';
import { beginPayout } from './payouts.ts';
import { requireReadyAccount } from './sellers.ts';
import * as store from './store.ts';

const READ_AT_ONCE = 100;
const SECOND_MS = 1_000;
const MONTH_CHARACTERS = 7;

/** The month of a date (UTC), such as 2026-11. */
const monthOf = (now: number): string => new Date(now * SECOND_MS).toISOString().slice(0, MONTH_CHARACTERS);

/** Where the terms say so, sellers are paid once a month without a request, as soon as they have earned enough. */
export async function schedulePayouts(app: App, heartbeat: () => Promise<void>): Promise<void> {
  if (!payoutGatewayOf(app)) return;
  const monthly = new Map<number, boolean>();
  for (let last = 0; ; ) {
    const sellers = await store.payableAfter(app.db, last, READ_AT_ONCE);
    for (const seller of sellers) {
      const { game_id: gameId } = seller;
      const isMonthly = monthly.get(gameId) ?? (await termsOf(app.db, gameId)).terms.payout_monthly;
      monthly.set(gameId, isMonthly);
      if (isMonthly) await payMonth(app, seller);
      last = seller.id;
    }
    if (sellers.length < READ_AT_ONCE) return;
    await heartbeat();
  }
}

/** A seller who cannot be paid now is tried again by the next run. */
async function payMonth(app: App, seller: store.Payable): Promise<void> {
  const period = monthOf(app.clock.now());
  const { user_id: userId, game_id: gameId, currency } = seller;
  if (await store.isMade(app.db, userId, gameId, currency, period)) return;
  try {
    const gateway = payoutGatewayOf(app)!;
    const account = await requireReadyAccount(app, gateway, userId);
    const payout = { userId, gameId, currency, period, provider: gateway.name, account };
    await app.db.write((transaction) => beginOnce(app, transaction, payout));
  } catch (error) {
    if (!(error instanceof ApiError)) app.log.warn('a scheduled payout was not made', { ...seller, error });
  }
}

type Scheduled = Omit<Parameters<typeof beginPayout>[2], 'requested' | 'key' | 'actor'>;

async function beginOnce(app: App, transaction: Transaction, payout: Scheduled): Promise<void> {
  const [user] = await lockUserRows(transaction, { under: [payout.userId] });
  if (user?.status !== USER_ACTIVE || user.isLocked) return;
  if (await store.isMade(transaction, payout.userId, payout.gameId, payout.currency, payout.period)) return;
  await beginPayout(app, transaction, { ...payout, requested: 0, key: '', actor: 0 });
}
