import type { Field } from '#components/dashboard/fields.ts';

export const SERVER_TOKEN: readonly Field[] = [
  { name: 'name', kind: 'text', required: true },
  { name: 'mod_ids', kind: 'lines', says: 'server_mod_ids' },
  { name: 'collection_id', kind: 'number', says: 'server_collection_id' },
  { name: 'requests_per_minute', kind: 'number' },
  { name: 'date_expires', kind: 'moment', says: 'server_date_expires' },
];

export const ANONYMOUS: readonly Field[] = [{ name: 'anonymous_access', kind: 'yes' }];
