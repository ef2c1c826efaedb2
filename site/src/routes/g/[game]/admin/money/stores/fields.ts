import type { Field } from '#components/dashboard/fields.ts';

const text = (name: string): Field => ({ name, kind: 'text', says: `portal_${name}` });
const secret = (name: string): Field => ({ name, kind: 'secret', says: `portal_${name}` });
const key: Field = { name: 'private_key', kind: 'long', says: 'portal_private_key', optional: true };

/** What the service needs to verify purchases at each store. */
export const STORES: Readonly<Record<string, readonly Field[]>> = {
  steam: [text('app_id'), secret('web_api_key')],
  apple: [text('bundle_id'), text('issuer_id'), text('key_id'), key],
  google: [text('package_name'), text('service_account_email'), key, text('push_audience'), text('push_email')],
  epicgames: [
    text('client_id'),
    secret('client_secret'),
    text('sandbox_id'),
    text('deployment_id'),
    { name: 'user_client_ids', kind: 'lines', says: 'portal_user_client_ids' },
  ],
  psn: [
    text('client_id'),
    secret('client_secret'),
    text('entitlements_url'),
    text('token_url'),
    text('redirect_uri'),
    text('scope'),
  ],
  oculus: [text('app_id'), secret('app_secret')],
  xboxlive: [text('sandbox'), text('tenant_id'), text('client_id'), secret('client_secret')],
};
