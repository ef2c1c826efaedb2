import type { Field } from '#components/dashboard/fields.ts';

export const BAN: readonly Field[] = [
  { name: 'network', kind: 'text', required: true },
  { name: 'reason', kind: 'text', required: true },
  { name: 'date_expires', kind: 'moment' },
];
