export type { Window } from './store.ts';

/** What a provider and the books both record about a payment or a payout. */
export type RecordKind = 'payment' | 'refund' | 'payout' | 'payout_return';

export interface MoneyRecord {
  readonly kind: RecordKind;
  /** The reference that the provider and the books share. */
  readonly reference: string;
  /** Positive, in the smallest unit; undefined where one side does not know the money, such as sales at stores. */
  readonly amount: number | undefined;
  readonly currency: string;
  /** Unix seconds; 0 if it is not known. */
  readonly date: number;
}

/** What a provider lists besides: its fees, transfers to the studio's bank, and others that the books do not have. */
export interface OtherRecord {
  readonly type: string;
  readonly currency: string;
  /** Signed, as the provider lists it. */
  readonly amount: number;
}

export interface ProviderRecords {
  readonly records: readonly MoneyRecord[];
  readonly others: readonly OtherRecord[];
}
