import type { Field } from '#components/dashboard/fields.ts';

export const PACK: readonly Field[] = [
  { name: 'name', kind: 'text', required: true },
  { name: 'description', kind: 'text' },
  { name: 'tokens', kind: 'number', required: true },
  { name: 'price', kind: 'number', required: true, says: 'pack_price' },
  { name: 'currency', kind: 'text', optional: true, max: 3 },
  { name: 'skus', kind: 'lines' },
];
