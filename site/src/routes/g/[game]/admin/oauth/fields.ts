import type { Field } from '#components/dashboard/fields.ts';

const SHARED: readonly Field[] = [
  { name: 'name', kind: 'text', required: true, says: 'client_name' },
  { name: 'redirect_uris', kind: 'lines' },
  { name: 'requires_pkce', kind: 'yes' },
  { name: 'standard', kind: 'yes' },
];

export const NEW_CLIENT: readonly Field[] = [
  ...SHARED.slice(0, 2),
  {
    name: 'grants',
    kind: 'many',
    options: [
      'authorization_code',
      'refresh_token',
      'client_credentials',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
  },
  ...SHARED.slice(2),
];

export const CHANGED_CLIENT: readonly Field[] = [{ name: 'client_id', kind: 'id' }, ...SHARED];
/** Of all clients of a game together. */
export const REDIRECT_URIS_MAX = 20;

/** A new secret beside the old one, or instead of it. */
export const ROTATION: readonly Field[] = [
  { name: 'client_id', kind: 'id' },
  { name: 'overlap', kind: 'number', says: 'overlap_oauth' },
];
export const OVERLAP_SECONDS = 86_400;
