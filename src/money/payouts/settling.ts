import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { audit } from '../../records/audit/audit.ts';
import { creditedEntries } from '../earnings/clearing.ts';
import { ownerOfEarnings } from '../earnings/earnings.ts';
import { type Cause, lockBalances, moneyAccount, post, sellerAccount } from '../ledger/ledger.ts';
import { PayoutDelayed, PayoutRefused } from './gateway.ts';
import { payoutGatewayNamed } from './gateways.ts';
import { manual } from './manual.ts';
import * as store from './store.ts';

const MINUTE = 60;
const HOUR = 3_600;
const DAY = 86_400;
/** Banks return payments days after they seemed to arrive. */
const WATCHED_SECONDS = 10 * DAY;
const ASKED_AT_ONCE = 100;

/** Sends what was requested, and asks providers what became of it. A call whose answer was lost is made again. */
export async function settlePayouts(app: App, heartbeat: () => Promise<void>): Promise<void> {
  for (let last = 0; ; ) {
    const rows = await store.toAsk(app.db, app.clock.now(), last, ASKED_AT_ONCE);
    for (const row of rows) {
      await settleOne(app, row);
      await heartbeat();
    }
    if (rows.length < ASKED_AT_ONCE) return;
    last = rows.at(-1)!.id;
  }
}

/** A provider that does not answer for one payout does not keep the others waiting. */
async function settleOne(app: App, row: store.PayoutRow): Promise<void> {
  try {
    await (row.status === 'requested' ? send(app, row) : ask(app, row));
  } catch (error) {
    app.log.warn('a payout was not settled; the next run tries again', { payout: row.id, error });
    const attempts = error instanceof PayoutDelayed ? 1 : 0;
    await app.db.write((transaction) => askLater(app, transaction, row.id, attempts));
  }
}

async function send(app: App, row: store.PayoutRow): Promise<void> {
  const gateway = payoutGatewayNamed(row.provider);
  try {
    const receipt = await gateway.send(app, row);
    await app.db.write((transaction) => recordSent(app, transaction, row.id, receipt));
  } catch (error) {
    if (!(error instanceof PayoutRefused)) throw error;
    await gateway.recall(app, row);
    await app.db.write((transaction) => recordFailed(app, transaction, row.id, error.message, SERVICE));
  }
}

async function ask(app: App, row: store.PayoutRow): Promise<void> {
  const gateway = payoutGatewayNamed(row.provider);
  const state = await gateway.stateOf(app, row);
  if (state === 'failed') await gateway.recall(app, row);
  await app.db.write(async (transaction) => {
    if (state === 'paid') await recordPaid(app, transaction, row.id, SERVICE);
    else if (state === 'failed' && row.status === 'paid') await recordReturned(app, transaction, row.id, '', SERVICE);
    else if (state === 'failed') await recordFailed(app, transaction, row.id, '', SERVICE);
    await askLater(app, transaction, row.id);
  });
}

/** The longer a payout is under way, the less often its provider is asked. */
async function askLater(app: App, transaction: Transaction, id: number, attempts = 0): Promise<void> {
  const row = (await store.lockById(transaction, id))!;
  const now = app.clock.now();
  await store.change(transaction.query, id, { attempt: row.attempt + attempts, date_next: nextDate(row, now) });
}

function nextDate({ status, provider, date_added, date_paid }: store.PayoutRow, now: number): number {
  if (provider === manual.name || status === 'failed' || status === 'returned') return 0;
  if (status === 'paid') return now - date_paid < WATCHED_SECONDS ? now + DAY : 0;
  return now + Math.min(HOUR, Math.max(MINUTE, now - date_added));
}

type By = Pick<Cause, 'operation' | 'actor'>;
const SERVICE: By = { operation: 'payouts.settle', actor: 0 };

const causeOf = ({ provider, reference }: store.PayoutRow, by: By): Cause => ({ ...by, provider, reference });

async function recordSent(app: App, transaction: Transaction, id: number, receipt: string): Promise<void> {
  const row = (await store.lockById(transaction, id))!;
  if (row.status !== 'requested') return;
  const now = app.clock.now();
  await store.change(transaction.query, id, { status: 'sent', receipt, date_sent: now, date_next: now + MINUTE });
}

const isUnderWay = ({ status }: store.PayoutRow) => status === 'requested' || status === 'sent';

/** The money has arrived. Recorded once, however often the provider says so. */
async function recordPaid(app: App, transaction: Transaction, id: number, by: By): Promise<void> {
  const row = (await store.lockById(transaction, id))!;
  if (!isUnderWay(row)) return;
  const { game_id: gameId, currency, amount, provider } = row;
  const owner = await ownerOfEarnings(app, transaction, row.user_id);
  const paidId = await post(app, transaction, {
    kind: 'payout_paid',
    gameId,
    cause: causeOf(row, by),
    entries: [
      { account: sellerAccount('payouts_in_transit', gameId, owner, currency), amount: -amount },
      { account: moneyAccount('gateway', gameId, currency, provider), amount },
    ],
  });
  const now = app.clock.now();
  const changed = { ...row, status: 'paid', paid_id: paidId, date_paid: now } as const;
  await store.change(transaction.query, id, {
    status: 'paid',
    paid_id: paidId,
    date_paid: now,
    date_next: nextDate(changed, now),
  });
}

/** It never arrived: the seller has the money again, and the fee. */
async function recordFailed(app: App, transaction: Transaction, id: number, reason: string, by: By): Promise<void> {
  const row = (await store.lockById(transaction, id))!;
  if (!isUnderWay(row)) return;
  await giveBack(app, transaction, row, 'payouts_in_transit', row.transaction_id, by);
  await end(app, transaction, id, 'failed', reason);
}

/** It arrived, and the bank sent it back. */
async function recordReturned(app: App, transaction: Transaction, id: number, reason: string, by: By): Promise<void> {
  const row = (await store.lockById(transaction, id))!;
  if (row.status !== 'paid') return;
  await giveBack(app, transaction, row, 'gateway', row.paid_id, by);
  await end(app, transaction, id, 'returned', reason);
}

const end = (app: App, { query }: Transaction, id: number, status: 'failed' | 'returned', reason: string) =>
  store.change(query, id, { status, reason, date_ended: app.clock.now(), date_next: 0 });

/** What the seller owes by now is settled first. */
async function giveBack(
  app: App,
  transaction: Transaction,
  row: store.PayoutRow,
  from: 'payouts_in_transit' | 'gateway',
  reverses: number,
  by: By,
): Promise<void> {
  const { game_id: gameId, currency, amount, fee, provider } = row;
  const owner = await ownerOfEarnings(app, transaction, row.user_id);
  const source =
    from === 'gateway'
      ? moneyAccount('gateway', gameId, currency, provider)
      : sellerAccount('payouts_in_transit', gameId, owner, currency);
  const fees = moneyAccount('payout_fees', gameId, currency);
  const deficit = sellerAccount('earnings_deficit', gameId, owner, currency);
  const earnings = sellerAccount('earnings', gameId, owner, currency);
  const [owed = 0] = await lockBalances(app, transaction, [deficit, earnings, source, fees]);
  await post(app, transaction, {
    kind: 'payout_return',
    gameId,
    cause: causeOf(row, by),
    reverses,
    entries: [
      { account: source, amount: -amount },
      { account: fees, amount: -fee },
      ...creditedEntries({ gameId, userId: owner, currency }, amount + fee, -owed),
    ],
  });
}

/** What staff records about a payout that is made by hand, and the states that it can follow. */
const STEPS = {
  sent: ['requested'],
  paid: ['requested', 'sent'],
  failed: ['requested', 'sent'],
  returned: ['paid'],
} as const satisfies Record<string, readonly store.PayoutStatus[]>;

export type Decision = keyof typeof STEPS;

/** Staff records what became of a payout that was made by hand. */
export async function decidePayout(
  app: App,
  caller: UserCaller,
  id: number,
  { status, reason }: { readonly status: Decision; readonly reason: string },
): Promise<store.PayoutRow> {
  if (!caller.admin) throw new ApiError('RESOURCE_NO_MODERATE_PERMISSION');
  return app.db.write(async (transaction) => {
    const row = await store.lockById(transaction, id);
    if (!row) throw new ApiError('RESOURCE_NOT_FOUND');
    const follows: readonly store.PayoutStatus[] = STEPS[status];
    if (row.provider !== manual.name || !follows.includes(row.status))
      throw new ApiError('MONETIZATION_UNEXPECTED_OPERATION', { fields: [{ field: 'status', rule: 'invalid' }] });
    const by = { operation: 'decide-payout', actor: caller.userId };
    if (status === 'sent') await recordSent(app, transaction, id, '');
    if (status === 'paid') await recordPaid(app, transaction, id, by);
    if (status === 'failed') await recordFailed(app, transaction, id, reason, by);
    if (status === 'returned') await recordReturned(app, transaction, id, reason, by);
    const subject = { resource: 'payouts', id, gameId: row.game_id };
    const data = { status, user_id: row.user_id, amount: row.amount, currency: row.currency };
    await audit(app, transaction, { actor: caller.userId, action: 'payouts.decide', subject, reason, data });
    return store.change(transaction.query, id, { reason, date_next: 0 });
  });
}
