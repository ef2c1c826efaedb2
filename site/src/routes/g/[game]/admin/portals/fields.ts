import type { Field } from '#components/dashboard/fields.ts';

const text = (name: string): Field => ({ name, kind: 'text', says: `portal_${name}` });
const secret = (name: string): Field => ({ name, kind: 'secret', says: `portal_${name}` });
const list = (name: string): Field => ({ name, kind: 'lines', says: `portal_${name}` });
const key = (name: string): Field => ({ name, kind: 'long', says: `portal_${name}`, optional: true });
const web: Field = { name: 'web', kind: 'choice', options: ['true', 'false'], says: 'portal_web' };

/** What each portal needs, the required settings first. */
export const PORTALS: Readonly<Record<string, readonly Field[]>> = {
  steam: [text('app_id'), secret('ticket_key'), secret('web_api_key'), web],
  epicgames: [list('client_ids'), secret('client_secret'), web],
  gog: [text('client_id'), secret('ticket_key'), secret('client_secret'), web],
  itchio: [text('itch_game_id'), text('client_id'), web],
  xboxlive: [
    text('relying_party'),
    key('private_key'),
    text('keys_url'),
    text('client_id'),
    secret('client_secret'),
    web,
  ],
  psn: [
    text('client_id'),
    secret('client_secret'),
    text('redirect_uri'),
    text('issuer'),
    text('keys_url'),
    text('token_url'),
    text('child_claim'),
    text('ugc_claim'),
    text('web_client_id'),
    secret('web_client_secret'),
    text('authorize_url'),
    text('web_token_url'),
    text('web_issuer'),
    text('web_keys_url'),
    web,
  ],
  nintendo: [
    list('app_ids'),
    text('issuer'),
    text('keys_url'),
    text('client_id'),
    secret('client_secret'),
    text('authorize_url'),
    text('web_token_url'),
    text('web_issuer'),
    text('web_keys_url'),
    web,
  ],
  oculus: [
    text('quest_app_id'),
    secret('quest_app_secret'),
    text('rift_app_id'),
    secret('rift_app_secret'),
    text('organization_id'),
    web,
  ],
  apple: [list('bundle_ids'), text('services_id'), text('team_id'), text('key_id'), key('private_key'), web],
  google: [list('client_ids'), secret('client_secret'), text('redirect_uri'), web],
  discord: [text('client_id'), secret('client_secret'), web],
  facebook: [text('app_id'), secret('app_secret'), web],
  sso: [
    { name: 'active', kind: 'choice', options: ['true', 'false'], says: 'portal_active' },
    text('issuer'),
    text('audience'),
    text('jwks_url'),
    text('authorize_url'),
    text('token_url'),
    text('userinfo_url'),
    text('client_id'),
    secret('client_secret'),
    { name: 'client_authentication', kind: 'choice', options: ['post', 'basic'], says: 'portal_client_authentication' },
    text('scopes'),
    text('portal_id_claim'),
    text('display_name_claim'),
    text('avatar_claim'),
    web,
  ],
};
