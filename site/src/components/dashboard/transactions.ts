/** The kinds of transactions in the books, as the filter offers them. */
export const TRANSACTION_KINDS = [
  'all',
  'disputes',
  'pack_sale',
  'pack_refund',
  'chargeback',
  'clawback',
  'store_sale',
  'store_reversal',
  'purchase',
  'purchase_refund',
  'clearing',
  'payout',
  'payout_paid',
  'payout_return',
  'merge',
] as const;

/** The kind that the address asks for. */
export const kindOf = ({ searchParams }: URL) =>
  TRANSACTION_KINDS.find((kind) => kind === searchParams.get('kind')) ?? 'all';
