import type { Field } from '#components/dashboard/fields.ts';

const reason: Field = { name: 'reason', kind: 'text' };

export const PAYOUT: readonly Field[] = [
  { name: 'payout_id', kind: 'id' },
  { name: 'status', kind: 'choice', options: ['sent', 'paid', 'failed', 'returned'], says: 'payout_status' },
  reason,
];

export const SELLER: readonly Field[] = [
  { name: 'user_id', kind: 'id' },
  { name: 'status', kind: 'choice', options: ['approved', 'action', 'rejected'], says: 'seller_status' },
  reason,
];
