import { requireUserIn } from '../../people/users/users.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { audit } from '../../records/audit/audit.ts';
import type { DatedTerms, Terms } from '../terms/terms.ts';
import { type Guard, GuardedError, limitsSignIns, requireTrustedSignIn } from './sign-ins.ts';
import * as store from './store.ts';

const HOUR = 3_600;
const DAY = 24 * HOUR;

interface Spending {
  readonly gameId: number;
  readonly sellerId: number;
  readonly tokens: number;
  readonly terms: Terms;
}

interface Sold {
  readonly game_id: number;
  readonly submitted_by: number;
  readonly price: number;
}

/** The rules of a game against stolen accounts and fraud. All of them are off by default. */
export async function requireMaySpend(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { game_id: gameId, submitted_by: sellerId, price: tokens }: Sold,
  { terms }: Pick<DatedTerms, 'terms'>,
): Promise<void> {
  const spending = { gameId, sellerId, tokens, terms };
  await requireTrustedBuyer(app, transaction, caller, terms);
  await requireNoCircle(app, transaction, caller, spending);
  await requireWithinLimits(app, transaction, caller, spending);
}

async function requireTrustedBuyer(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  terms: Terms,
): Promise<void> {
  if (!terms.verified_only && !limitsSignIns(terms)) return;
  const user = await requireUserIn(transaction, caller.userId);
  if (terms.verified_only && user.email === null) throw new GuardedError('unverified', 'MONETIZATION_ACCOUNT_ERROR');
  await requireTrustedSignIn(app, transaction, caller, user, terms);
}

/** Two users who buy from each other move the same tokens in a circle. */
async function requireNoCircle(
  app: App,
  transaction: Transaction,
  { userId }: UserCaller,
  { gameId, sellerId, terms }: Spending,
): Promise<void> {
  if (terms.circular_trade_days === 0) return;
  const since = app.clock.now() - terms.circular_trade_days * DAY;
  if (await store.hasBoughtFrom(transaction, { buyer: sellerId, seller: userId, gameId, since }))
    throw new GuardedError('wash-trading', 'MONETIZATION_REQUEST_ERROR');
}

const hasLimits = (terms: Terms): boolean =>
  terms.purchases_per_hour > 0 ||
  terms.tokens_per_day > 0 ||
  terms.purchases_per_hour_and_address > 0 ||
  terms.purchases_per_hour_in_game > 0;

const addressOf = ({ secrets }: App, gameId: number, address: string | undefined): string =>
  address ? secrets.sign('spending', `${gameId}/${address}`) : '';

async function requireWithinLimits(
  app: App,
  transaction: Transaction,
  { userId, address }: UserCaller,
  { gameId, tokens, terms }: Spending,
): Promise<void> {
  if (!hasLimits(terms)) return;
  // Purchases of different mods do not wait for each other elsewhere, and have to count each other here.
  await takeAdvisoryLock(transaction, `spending/${gameId}`);
  const now = app.clock.now();
  const refuse = (guard: Guard) => new GuardedError(guard, 'MONETIZATION_WALLET_ERROR');
  const exceeds = (limit: number, count: number) => limit > 0 && count > limit;
  const ofHour = await store.spentByUser(transaction, userId, gameId, now - HOUR);
  if (exceeds(terms.purchases_per_hour, ofHour.purchases + 1)) throw refuse('purchases-of-user');
  const ofDay = await store.spentByUser(transaction, userId, gameId, now - DAY);
  if (exceeds(terms.tokens_per_day, ofDay.tokens + tokens)) throw refuse('tokens-of-user');
  const from = await store.spentFrom(transaction, gameId, addressOf(app, gameId, address), now - HOUR);
  if (address && exceeds(terms.purchases_per_hour_and_address, from.purchases + 1))
    throw refuse('purchases-of-address');
  const inGame = await store.spentInGame(transaction, gameId, now - HOUR);
  if (exceeds(terms.purchases_per_hour_in_game, inGame.purchases + 1)) throw refuse('purchases-of-game');
}

/** Counts a purchase towards the limits of its game. */
export async function recordSpending(
  app: App,
  transaction: Transaction,
  { userId, address }: Pick<UserCaller, 'userId' | 'address'>,
  { purchaseId, gameId, tokens, terms }: Omit<Spending, 'sellerId'> & { readonly purchaseId: number },
): Promise<void> {
  if (!hasLimits(terms)) return;
  await store.add(transaction, {
    purchase_id: purchaseId,
    user_id: userId,
    game_id: gameId,
    address: addressOf(app, gameId, address),
    tokens,
    date_added: app.clock.now(),
  });
}

const hasPackLimits = (terms: Terms): boolean => terms.packs_per_day > 0 || terms.payments_per_hour_and_address > 0;

/**
 * How fast a user, or an address, may pay for token packs. Payments that fail count for the address, because stolen cards
 * are tried until one works.
 */
export async function requireMayPay(
  app: App,
  transaction: Transaction,
  { userId, address }: Pick<UserCaller, 'userId' | 'address'>,
  gameId: number,
  terms: Terms,
): Promise<void> {
  if (!hasPackLimits(terms)) return;
  await takeAdvisoryLock(transaction, `spending/${gameId}`);
  const now = app.clock.now();
  const { packs_per_day: ofDay, payments_per_hour_and_address: ofHour } = terms;
  if (ofDay > 0 && (await store.paymentsOf(transaction, userId, gameId, now - DAY)) >= ofDay)
    throw new GuardedError('packs-of-user', 'MONETIZATION_WALLET_ERROR');
  if (!address || ofHour === 0) return;
  if ((await store.attemptsFrom(transaction, gameId, addressOf(app, gameId, address), now - HOUR)) >= ofHour)
    throw new GuardedError('payments-of-address', 'MONETIZATION_WALLET_ERROR');
}

/** Counts a payment towards the limits of its game. */
export async function recordAttempt(
  app: App,
  transaction: Transaction,
  { userId, address }: Pick<UserCaller, 'userId' | 'address'>,
  { id, game_id }: { readonly id: number; readonly game_id: number },
  terms: Terms,
): Promise<void> {
  if (!address || terms.payments_per_hour_and_address === 0) return;
  await store.addAttempt(transaction, {
    payment_id: id,
    user_id: userId,
    game_id,
    address: addressOf(app, game_id, address),
    date_added: app.clock.now(),
  });
}

/** What a refused request was for. */
interface Wanted {
  readonly gameId: number;
  readonly modId?: number;
  readonly packId?: number;
}

/** Runs a purchase, and logs it if a rule against fraud refuses it: once per user, rule and hour. */
export async function logRefusals<T>(
  app: App,
  { userId }: UserCaller,
  wanted: Wanted,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof GuardedError) await logRefusal(app, userId, wanted, error.guard);
    throw error;
  }
}

async function logRefusal(app: App, userId: number, { gameId, modId, packId }: Wanted, guard: Guard): Promise<void> {
  const hour = Math.floor(app.clock.now() / HOUR) * HOUR;
  await app.db.write(async (transaction) => {
    const row = { user_id: userId, game_id: gameId, guard, date_hour: hour };
    if (!(await store.addRefusal(transaction, row))) return;
    const subject = { resource: 'users', id: userId, gameId };
    const data = { guard, ...(packId === undefined ? { mod_id: modId } : { token_pack_id: packId }) };
    await audit(app, transaction, { actor: 0, action: 'users.purchase-refused', subject, data });
  });
}
