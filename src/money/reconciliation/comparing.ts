import type { MoneyRecord, OtherRecord, ProviderRecords, RecordKind, Window } from './records.ts';

export type Difference = 'missing_at_provider' | 'missing_in_ledger' | 'different_amount';

export interface ReconciledItem {
  readonly difference: Difference;
  readonly kind: RecordKind;
  readonly reference: string;
  readonly currency: string;
  /** 0 for a side that does not have it, or does not know the money. */
  readonly ledgerAmount: number;
  readonly providerAmount: number;
  readonly date: number;
}

export interface Total {
  readonly kind: RecordKind;
  readonly currency: string;
  readonly ledger: number;
  readonly provider: number;
  readonly count: number;
}

export interface Compared {
  readonly matched: number;
  readonly differences: readonly ReconciledItem[];
  readonly totals: readonly Total[];
  readonly others: readonly (OtherRecord & { readonly count: number })[];
}

interface Pair {
  ledger?: MoneyRecord;
  provider?: MoneyRecord;
}

const keyOf = ({ kind, reference }: MoneyRecord) => `${kind} ${reference}`;

/** Lines with the same reference are one payment, such as two of three items. */
const added = (one: MoneyRecord | undefined, other: MoneyRecord): MoneyRecord =>
  one ? { ...one, amount: one.amount === undefined ? other.amount : one.amount + (other.amount ?? 0) } : other;

/** Holds the books against what a provider says, record by record. Only what is dated in the period is reported. */
export function compare(ledger: readonly MoneyRecord[], provider: ProviderRecords, period: Window): Compared {
  const pairs = new Map<string, Pair>();
  for (const [side, records] of [
    ['ledger', ledger],
    ['provider', provider.records],
  ] as const)
    for (const each of records) {
      const pair = pairs.get(keyOf(each)) ?? {};
      pairs.set(keyOf(each), { ...pair, [side]: added(pair[side], each) });
    }
  forgetRoundTrips(pairs);
  const reported = [...pairs.values()].filter((pair) => isIn(pair, period));
  const differences = reported.map(itemOf).filter((each) => each !== undefined);
  return {
    matched: reported.length - differences.length,
    differences,
    totals: totalsOf(reported),
    others: othersOf(provider.others),
  };
}

/** A payout that failed on its way moved nothing: one side may list it and its return, and the other neither. */
function forgetRoundTrips(pairs: Map<string, Pair>): void {
  for (const [key, there] of pairs) {
    if (!key.startsWith('payout ')) continue;
    const returnKey = key.replace('payout ', 'payout_return ');
    const back = pairs.get(returnKey);
    const isOneSided = (side: 'ledger' | 'provider') => back && !there[side] && !back[side];
    if (!isOneSided('ledger') && !isOneSided('provider')) continue;
    pairs.delete(key);
    pairs.delete(returnKey);
  }
}

/** What a side cannot date belongs to the period in which the other side has it. */
const isIn = ({ ledger, provider }: Pair, { from, until }: Window): boolean =>
  [ledger, provider].some((each) => each !== undefined && each.date >= from && each.date < until) ||
  (!ledger && provider?.date === 0);

function itemOf({ ledger, provider }: Pair): ReconciledItem | undefined {
  const one = (ledger ?? provider)!;
  const named = {
    kind: one.kind,
    reference: one.reference,
    currency: one.currency || (provider?.currency ?? ''),
    ledgerAmount: ledger?.amount ?? 0,
    providerAmount: provider?.amount ?? 0,
    date: one.date,
  };
  if (!ledger) return { difference: 'missing_in_ledger', ...named };
  if (!provider) return { difference: 'missing_at_provider', ...named };
  const areKnown = ledger.amount !== undefined && provider.amount !== undefined;
  const areSame = ledger.amount === provider.amount && (provider.currency || ledger.currency) === ledger.currency;
  return areKnown && !areSame ? { difference: 'different_amount', ...named } : undefined;
}

function totalsOf(pairs: readonly Pair[]): Total[] {
  const totals = new Map<string, { -readonly [K in keyof Total]: Total[K] }>();
  for (const { ledger, provider } of pairs) {
    const { kind } = (ledger ?? provider)!;
    const currency = ledger?.currency || provider?.currency || '';
    const total = totals.get(`${kind} ${currency}`) ?? { kind, currency, ledger: 0, provider: 0, count: 0 };
    total.ledger += ledger?.amount ?? 0;
    total.provider += provider?.amount ?? 0;
    total.count += 1;
    totals.set(`${kind} ${currency}`, total);
  }
  return [...totals.values()];
}

function othersOf(others: readonly OtherRecord[]) {
  const byType = Map.groupBy(others, ({ type, currency }) => `${type} ${currency}`);
  return [...byType.values()].map((same) => ({
    type: same[0]!.type,
    currency: same[0]!.currency,
    amount: same.reduce((sum, { amount }) => sum + amount, 0),
    count: same.length,
  }));
}
