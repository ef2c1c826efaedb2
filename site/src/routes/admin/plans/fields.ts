import type { Field } from '#components/dashboard/fields.ts';

export const PLAN: readonly Field[] = [
  { name: 'plan', kind: 'id' },
  { name: 'mods_max', kind: 'number' },
  { name: 'storage_megabytes_max', kind: 'number', says: 'storage_megabytes' },
  { name: 'may_sell', kind: 'yes' },
];

export const ASSIGNMENT: readonly Field[] = [
  { name: 'game_id', kind: 'number', required: true },
  { name: 'plan', kind: 'choice', options: ['basic', 'pro', 'growth', 'enterprise'] },
];
