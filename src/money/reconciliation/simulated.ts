import type { App } from '../../platform/app.ts';
import type { MoneyRecord, ProviderRecords, Window } from './records.ts';
import * as store from './store.ts';

const recordOf = (row: store.SimulatedRow, kind: MoneyRecord['kind']): MoneyRecord => ({
  kind,
  reference: row.reference,
  amount: row.amount,
  currency: row.currency,
  date: Math.max(row.date_added, row.date_due),
});

/** What the simulated provider says about its payments and payouts. It records no date of a refund. */
export async function simulatedRecords(
  app: App,
  references: readonly string[],
  window: Window,
): Promise<ProviderRecords> {
  const { readInWorker } = app.db.withLongTimeouts;
  const now = app.clock.now();
  const payments = await store.simulatedRecords(readInWorker, 'simulated_payments', references, window);
  const payouts = await store.simulatedRecords(readInWorker, 'simulated_payouts', references, window);
  return {
    records: [
      ...payments.filter((row) => isPaid(row, now)).map((row) => recordOf(row, 'payment')),
      ...payments
        .filter(({ outcome }) => outcome === 'refunded')
        .map((row) => ({ ...recordOf(row, 'refund'), date: 0 })),
      ...payouts.map((row) => recordOf(row, 'payout')),
      ...payouts
        .filter(({ outcome }) => outcome !== 'paid')
        .map((row) => ({ ...recordOf(row, 'payout_return'), date: 0 })),
    ],
    others: [],
  };
}

const isPaid = ({ outcome, date_due }: store.SimulatedRow, now: number) =>
  outcome === 'refunded' || (outcome === 'paid' && date_due <= now);
