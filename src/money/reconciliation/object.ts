import { z } from 'zod';
import { Integer, Timestamp } from '../../platform/http/objects.ts';
import type { Reconciliation } from './reconciliation.ts';

const KINDS = ['payment', 'refund', 'payout', 'payout_return'] as const;
const DIFFERENCES_MAX = 1_000;

export const ReconciliationObject = z
  .object({
    provider: z.string(),
    game_id: Integer.meta({ description: '0 for all games.' }),
    date_from: Timestamp,
    date_until: Timestamp,
    reconciled: z.boolean().meta({ description: 'True if the books and the provider agree.' }),
    matched: Integer.meta({ description: 'Payments, refunds and payouts that both sides have alike.' }),
    difference_total: Integer.meta({ description: 'How many differ; at most 1,000 of them are listed.' }),
    differences: z.array(
      z.object({
        difference: z.enum(['missing_at_provider', 'missing_in_ledger', 'different_amount']),
        kind: z.enum(KINDS),
        reference: z.string().meta({ description: 'The reference that the provider and the books share.' }),
        currency: z.string(),
        ledger_amount: Integer,
        provider_amount: Integer,
        date: Timestamp,
      }),
    ),
    totals: z.array(
      z.object({
        kind: z.enum(KINDS),
        currency: z.string(),
        ledger: Integer.meta({ description: 'Sum in the books; 0 for stores, whose money they do not know.' }),
        provider: Integer.meta({ description: 'Sum at the provider.' }),
        count: Integer,
      }),
    ),
    others: z
      .array(z.object({ type: z.string(), currency: z.string(), amount: Integer, count: Integer }))
      .meta({ description: 'What the provider lists besides, such as its fees. Signed.' }),
  })
  .meta({ id: 'Reconciliation' });

export const toReconciliation = (each: Reconciliation): z.output<typeof ReconciliationObject> => ({
  provider: each.provider,
  game_id: each.gameId ?? 0,
  date_from: each.from,
  date_until: each.until,
  reconciled: each.differences.length === 0,
  matched: each.matched,
  difference_total: each.differences.length,
  differences: each.differences
    .slice(0, DIFFERENCES_MAX)
    .map(({ difference, kind, reference, currency, ledgerAmount, providerAmount, date }) => ({
      difference,
      kind,
      reference,
      currency,
      ledger_amount: ledgerAmount,
      provider_amount: providerAmount,
      date,
    })),
  totals: [...each.totals],
  others: [...each.others],
});
