import type { Field } from '#components/dashboard/fields.ts';

export const DECISION: readonly Field[] = [
  { name: 'mod_id', kind: 'id' },
  { name: 'status', kind: 'choice', options: ['approved', 'declined'], says: 'marketplace_status' },
  { name: 'reason', kind: 'text' },
];
