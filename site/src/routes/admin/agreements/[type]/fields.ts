import type { Field } from '#components/dashboard/fields.ts';

export const DRAFT: readonly Field[] = [
  { name: 'name', kind: 'text', required: true },
  { name: 'changelog', kind: 'text' },
  { name: 'description', kind: 'long', required: true, says: 'agreement_text' },
];
