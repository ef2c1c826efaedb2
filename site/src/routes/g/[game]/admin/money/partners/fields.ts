import type { Field } from '#components/dashboard/fields.ts';

export const PARTNER: readonly Field[] = [
  { name: 'user_id', kind: 'number', required: true },
  { name: 'status', kind: 'choice', options: ['invited', 'approved', 'rejected'], says: 'partner_status' },
  { name: 'reason', kind: 'text' },
];
