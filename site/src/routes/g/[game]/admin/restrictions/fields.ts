import type { Field } from '#components/dashboard/fields.ts';

export const RESTRICTION: readonly Field[] = [
  { name: 'user_id', kind: 'number', required: true },
  { name: 'options', kind: 'bits', options: [1, 2, 4, 8, 16], says: 'restriction' },
  { name: 'reason', kind: 'long' },
];
