import type { Field } from '#components/dashboard/fields.ts';

export const GROUP: readonly Field[] = [
  { name: 'name', kind: 'text', required: true, says: 'tag_group' },
  { name: 'type', kind: 'radio', options: ['dropdown', 'checkboxes'], says: 'tag_type' },
  { name: 'tags', kind: 'lines', required: true },
  { name: 'hidden', kind: 'yes', says: 'tag_hidden' },
  { name: 'locked', kind: 'yes', says: 'tag_locked' },
  { name: 'translations', kind: 'lines', says: 'tag_translations' },
];

export const REMOVAL: readonly Field[] = [
  { name: 'name', kind: 'id' },
  { name: 'tags', kind: 'lines', says: 'tags_removed' },
];

export const RENAMING: readonly Field[] = [
  { name: 'from', kind: 'id' },
  { name: 'to', kind: 'text', required: true, says: 'tag_to' },
];
