import type { Field } from '#components/dashboard/fields.ts';

export const OWNER: readonly Field[] = [
  { name: 'code', kind: 'text', required: true, says: 'setup_code' },
  { name: 'username', kind: 'text', required: true, max: 80, says: 'setup_name' },
  { name: 'email', kind: 'email', required: true, says: 'setup_email' },
];
