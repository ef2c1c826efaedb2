import type { Field } from '#components/dashboard/fields.ts';

export const REFUND: readonly Field[] = [
  { name: 'purchase_id', kind: 'number', required: true },
  { name: 'reason', kind: 'text', required: true },
];
