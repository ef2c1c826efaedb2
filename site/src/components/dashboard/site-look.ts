import type { Field } from './fields.ts';

/** The form of the name and look of the site. */
export const LOOK: readonly Field[] = [
  { name: 'name', kind: 'text', required: true, max: 50, says: 'site_name' },
  { name: 'summary', kind: 'text', max: 250, says: 'site_summary' },
  { name: 'accent', kind: 'colour' },
];
