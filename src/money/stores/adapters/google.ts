import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import { form, objectOf, stringOf } from '../../../signin/portals/platform-requests.ts';
import { type Asking, type Entitlement, type StoreAdapter, StoreRefusal, StoreUnavailable } from '../adapter.ts';
import { askStore, countOf, type Json, json, requireOk, requireSetting } from '../asking.ts';
import { serverAuthorization } from '../server-tokens.ts';

const PUBLISHER = 'https://androidpublisher.googleapis.com/androidpublisher/v3/applications';
const TOKENS = 'https://oauth2.googleapis.com/token';
const SCOPE = 'https://www.googleapis.com/auth/androidpublisher';
const ASSERTION_SECONDS = 3_600;

/** Google Play: one purchase per receipt, read and consumed with the game's service account. */
export const google: StoreAdapter = {
  retry: 'look-first',
  open: async (asking, { receipt = '' }, linked) => {
    const { packageName, productId, purchaseToken } = receiptOf(receipt);
    // A purchase in another app of the same developer account is not one in this game.
    if (packageName !== requireSetting(asking.settings, 'package_name'))
      throw new StoreRefusal('buyer', 'a purchase in another app', { field: 'receipt' });
    return { buyer: linked ?? '', tokens: { productId, purchaseToken } };
  },
  list: async (asking, { tokens }) => {
    const { productId = '', purchaseToken = '' } = tokens;
    return [entitlementOf(asking, productId, purchaseToken, await purchaseOf(asking, productId, purchaseToken))];
  },
  verify: async (asking, _session, { sku, handle }) => {
    const token = handle['purchaseToken'] ?? '';
    return entitlementOf(asking, sku, token, await purchaseOf(asking, sku, token)).state;
  },
  consume: async (asking, _session, { sku, handle, kind }) => {
    // Consuming also acknowledges. Google refunds what is neither within three days.
    const action = kind === 'consumable' ? 'consume' : 'acknowledge';
    const url = `${addressOf(asking, sku, handle['purchaseToken'] ?? '')}:${action}`;
    const request = json('POST', {}, await authorization(asking));
    const answer = await askStore(asking, 'google', url, { ...request, rejects: 'settings' });
    return answer.ok ? 'consumed' : 'not-owned';
  },
};

interface Receipt {
  readonly packageName: string;
  readonly productId: string;
  readonly purchaseToken: string;
}

/** The purchase data of the billing library: JSON, or that in base64. */
function receiptOf(receipt: string): Receipt {
  const text = receipt.trim().startsWith('{') ? receipt : Buffer.from(receipt, 'base64').toString('utf8');
  try {
    const { packageName, productId, productIds, purchaseToken } = objectOf(JSON.parse(text));
    const [first] = Array.isArray(productIds) ? productIds : [];
    const read = {
      packageName: stringOf(packageName),
      productId: stringOf(productId) || stringOf(first),
      purchaseToken: stringOf(purchaseToken),
    };
    if (Object.values(read).every(Boolean)) return read;
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause;
  }
  throw new StoreRefusal('buyer', 'not a receipt of Google Play', { field: 'receipt' });
}

function addressOf({ settings }: Asking, productId: string, token: string): string {
  const [app, product, purchase] = [requireSetting(settings, 'package_name'), productId, token].map(encodeURIComponent);
  return `${PUBLISHER}/${app}/purchases/products/${product}/tokens/${purchase}`;
}

async function purchaseOf(asking: Asking, productId: string, token: string): Promise<Json> {
  const answer = await askStore(asking, 'google', addressOf(asking, productId, token), {
    headers: { accept: 'application/json', ...(await authorization(asking)) },
    rejects: 'settings',
  });
  if ([400, 404, 410].includes(answer.status))
    throw new StoreRefusal('buyer', 'Google does not know the purchase', { field: 'receipt' });
  return requireOk(answer);
}

/** The token is the purchase's identity: test purchases have no order id. */
function entitlementOf({ app, settings }: Asking, sku: string, purchaseToken: string, purchase: Json): Entitlement {
  return {
    reference: referenceOf(requireSetting(settings, 'package_name'), purchaseToken),
    sku,
    kind: 'consumable',
    quantity: Math.max(1, countOf(purchase['quantity'], 1)),
    // License testers pay nothing.
    state: purchase['purchaseType'] === 0 && app.environment === 'production' ? 'revoked' : stateOf(purchase),
    handle: { purchaseToken, orderId: stringOf(purchase['orderId']) },
  };
}

export const referenceOf = (packageName: string, purchaseToken: string): string => `${packageName}/${purchaseToken}`;

const STATES: Readonly<Record<number, Entitlement['state']>> = { 0: 'owned', 1: 'revoked', 2: 'pending' };

function stateOf({ purchaseState, consumptionState }: Json): Entitlement['state'] {
  const state = typeof purchaseState === 'number' ? STATES[purchaseState] : undefined;
  if (!state) throw new StoreUnavailable('Google names no state of the purchase');
  return state === 'owned' && consumptionState === 1 ? 'consumed' : state;
}

function authorization(asking: Asking): Promise<{ authorization: string }> {
  const { settings } = asking;
  const account = requireSetting(settings, 'service_account_email');
  return serverAuthorization(asking, `google ${account}`, requireSetting(settings, 'private_key'), async () => {
    const request = form({
      grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
      assertion: await assertionOf(asking, account),
    });
    const answer = await askStore(asking, 'google', TOKENS, { ...request, rejects: 'settings' });
    if (!answer.ok) throw new StoreRefusal('settings', 'Google rejects the service account');
    const { access_token, expires_in } = requireOk(answer);
    if (!stringOf(access_token)) throw new StoreUnavailable('Google sent no token');
    return { token: stringOf(access_token), seconds: countOf(expires_in, 0) };
  });
}

function assertionOf({ app, settings }: Asking, account: string): Promise<string> {
  const now = app.clock.now();
  return new SignJWT({ scope: SCOPE })
    .setProtectedHeader({ alg: 'RS256', typ: 'JWT' })
    .setIssuer(account)
    .setAudience(TOKENS)
    .setIssuedAt(now)
    .setExpirationTime(now + ASSERTION_SECONDS)
    .sign(createPrivateKey(requireSetting(settings, 'private_key')));
}
