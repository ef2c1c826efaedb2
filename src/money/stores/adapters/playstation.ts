import { form, stringOf } from '../../../signin/portals/platform-requests.ts';
import {
  type Asking,
  type Entitlement,
  type Proof,
  type Session,
  type StoreAdapter,
  StoreRefusal,
  StoreUnavailable,
} from '../adapter.ts';
import {
  askStore,
  basicAuthorization,
  countOf,
  everyPage,
  type Json,
  json,
  listOf,
  optionalSetting,
  requireOk,
  requireSetting,
} from '../asking.ts';

const TOKENS = 'https://auth.api.sonyentertainmentnetwork.com/2.0/oauth/token';
/** The environment of players; purchases in the others cost nothing. */
const LIVE = '256';
const PAGE_ITEMS = 100;

/**
 * PlayStation: the player's authorization code buys an access token, with which entitlements of a service label are read
 * and used. Sony documents the addresses to its partners only, so the game's settings name them.
 */
export const playstation: StoreAdapter = {
  retry: 'look-first',
  open: async (asking, proof, linked) => {
    const { psn_env: env = LIVE, psn_service_label: label = '0' } = proof;
    if (asking.app.environment === 'production' && env !== LIVE)
      throw new StoreRefusal('buyer', 'purchases of a development environment', { field: 'psn_env' });
    if (!/^\d{1,4}$/.test(label) || !/^\d{1,4}$/.test(env))
      throw new StoreRefusal('buyer', 'not a service label', { field: 'psn_service_label' });
    if (!linked) throw new StoreRefusal('link', 'no PlayStation account is linked');
    return { buyer: linked, tokens: { access: await accessToken(asking, proof), label, env } };
  },
  list: entitlementsOf,
  verify: async (asking, session, { handle }) => {
    const listed = (await entitlementsOf(asking, session)).find((each) => each.handle['id'] === handle['id']);
    // The list may be that of another account or label, so it says nothing about the purchase.
    if (!listed) throw new StoreUnavailable('PlayStation does not list the entitlement');
    // The count of uses grows with each consumption.
    return listed.handle['used'] === handle['used'] ? listed.state : 'consumed';
  },
  consume: async (asking, session, { handle, quantity }, key) => {
    const { label = '0' } = session.tokens;
    const base = requireSetting(asking.settings, 'entitlements_url').replace(/\/$/, '');
    const url = `${base}/${encodeURIComponent(handle['id'] ?? '')}?${new URLSearchParams({ service_label: label })}`;
    const request = json('PUT', { use_count: quantity, transaction_id: key }, bearer(session));
    const answer = await askStore(asking, 'psn', url, { ...request, rejects: 'buyer' });
    return answer.ok ? 'consumed' : 'not-owned';
  },
};

const bearer = ({ tokens }: Session) => ({ authorization: `Bearer ${tokens['access'] ?? ''}` });

/** A code is good once, so the token that it buys is what the session keeps. */
async function accessToken(asking: Asking, { psn_token = '' }: Proof): Promise<string> {
  const { settings } = asking;
  if (!psn_token) throw new StoreRefusal('buyer', 'no authorization code', { field: 'psn_token' });
  const scope = optionalSetting(settings, 'scope');
  const request = form({
    grant_type: 'authorization_code',
    code: psn_token,
    redirect_uri: optionalSetting(settings, 'redirect_uri') ?? 'orbis://games',
    ...(scope && { scope }),
  });
  const client = basicAuthorization(requireSetting(settings, 'client_id'), requireSetting(settings, 'client_secret'));
  const answer = await askStore(asking, 'psn', optionalSetting(settings, 'token_url') ?? TOKENS, {
    ...request,
    headers: { ...request.headers, authorization: client },
    rejects: 'settings',
  });
  if (!answer.ok) throw new StoreRefusal('buyer', 'PlayStation rejects the authorization code', { field: 'psn_token' });
  const token = stringOf(requireOk(answer)['access_token']);
  if (!token) throw new StoreUnavailable('PlayStation sent no token');
  return token;
}

async function entitlementsOf(asking: Asking, session: Session): Promise<Entitlement[]> {
  const { label = '0', env = LIVE } = session.tokens;
  const base = requireSetting(asking.settings, 'entitlements_url').replace(/\/$/, '');
  return everyPage('0', async (offset) => {
    const query = new URLSearchParams({ service_label: label, limit: String(PAGE_ITEMS), offset });
    const options = { headers: { accept: 'application/json', ...bearer(session) }, rejects: 'buyer' as const };
    const page = requireOk(await askStore(asking, 'psn', `${base}?${query}`, options));
    if (!Array.isArray(page['entitlements'])) throw new StoreUnavailable('PlayStation sent no list of entitlements');
    // Games choose the address, so one game's references must not occupy those of another.
    const scope = `${asking.gameId}/${env}/${label}`;
    const items = listOf(page['entitlements']).map((each) => entitlementOf(scope, each));
    return { items, next: items.length < PAGE_ITEMS ? '' : String(Number(offset) + items.length) };
  });
}

/** `use_limit` is what is left, `use_count` what has been used. An entitlement grows with the next purchase. */
function entitlementOf(scope: string, each: Json): Entitlement {
  const id = stringOf(each['id']);
  const left = each['use_limit'] ?? each['useLimit'];
  const used = countOf(each['use_count'] ?? each['useCount'], 0);
  const isActive = (each['active_flag'] ?? each['activeFlag']) === true;
  const remaining = countOf(left, 0);
  return {
    reference: `${scope}/${id}/${used}`,
    // The label at the end of the id is the name of the product within the service.
    sku: id.split('-').at(-1) ?? id,
    kind: left === undefined || left === null ? 'durable' : 'consumable',
    quantity: left === undefined || left === null ? 1 : remaining,
    state: stateOf(isActive, left === undefined || left === null || remaining > 0),
    handle: { id, used: String(used) },
  };
}

function stateOf(isActive: boolean, hasUses: boolean): Entitlement['state'] {
  if (!isActive) return 'revoked';
  return hasUses ? 'owned' : 'consumed';
}
