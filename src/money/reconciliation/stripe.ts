import type Stripe from 'stripe';
import type { App } from '../../platform/app.ts';
import { stripeClient } from '../gateways/stripe.ts';
import type { MoneyRecord, OtherRecord, ProviderRecords, RecordKind, Window } from './records.ts';

const PAGE = 100;
const idOf = (object: string | { readonly id: string } | null | undefined): string =>
  typeof object === 'string' ? object : (object?.id ?? '');

type Source = Stripe.Charge | Stripe.Refund | Stripe.Dispute | Stripe.Transfer | Stripe.TransferReversal;

/**
 * Stripe's own list of everything that moved in the account. A charge carries our reference; refunds and disputes name
 * its payment, and reversals their transfer, which are looked up once each.
 */
export async function stripeRecords(app: App, { from, until }: Window): Promise<ProviderRecords> {
  const client = await stripeClient(app);
  const references = new References(client);
  const records: MoneyRecord[] = [];
  const others: OtherRecord[] = [];
  const created = { gte: from, lt: until };
  for await (const each of client.balanceTransactions.list({ created, limit: PAGE, expand: ['data.source'] })) {
    const currency = each.currency.toUpperCase();
    if (each.fee !== 0) others.push({ type: 'fee', currency, amount: -each.fee });
    const source = each.source as Source | string | null;
    const kind = source !== null && typeof source === 'object' ? kindOf(each) : undefined;
    const reference = kind && (await references.of(source as Source));
    if (!kind || !reference) others.push({ type: each.type, currency, amount: each.amount });
    else records.push({ kind, reference, ...moneyOf(source as Source), date: each.created });
  }
  return { records, others };
}

/** What the buyer paid or the seller got; the balance itself may be in another currency. */
const moneyOf = ({ amount, currency }: Source) => ({ amount, currency: currency.toUpperCase() });

function kindOf({ type, amount, source }: Stripe.BalanceTransaction): RecordKind | undefined {
  switch (type) {
    case 'charge':
    case 'payment':
      return 'payment';
    case 'refund':
    case 'payment_refund':
      return 'refund';
    case 'adjustment':
      // A dispute that was won credits the amount again: the books know nothing of it.
      return amount < 0 && (source as Source).object === 'dispute' ? 'refund' : undefined;
    case 'transfer':
      return 'payout';
    case 'transfer_refund':
      return 'payout_return';
    default:
      return undefined;
  }
}

class References {
  readonly #client: Stripe;
  readonly #known = new Map<string, string>();

  constructor(client: Stripe) {
    this.#client = client;
  }

  async of(source: Source): Promise<string | undefined> {
    switch (source.object) {
      case 'charge':
        return source.metadata['reference'] ?? this.#ofIntent(idOf(source.payment_intent));
      case 'transfer':
        return source.metadata['reference'];
      case 'transfer_reversal':
        return this.#lookUp(idOf(source.transfer), (id) => this.#client.transfers.retrieve(id));
      default:
        return this.#ofIntent(idOf(source.payment_intent));
    }
  }

  #ofIntent(id: string): Promise<string | undefined> {
    return this.#lookUp(id, (intent) => this.#client.paymentIntents.retrieve(intent));
  }

  async #lookUp(id: string, find: (id: string) => Promise<{ readonly metadata: Stripe.Metadata }>) {
    if (id === '') return undefined;
    const known = this.#known.get(id) ?? (await find(id)).metadata['reference'] ?? '';
    this.#known.set(id, known);
    return known || undefined;
  }
}
