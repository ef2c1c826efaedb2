import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { App } from '../../../platform/app.ts';
import { stringOf } from '../../../signin/portals/platform-requests.ts';
import { type Asking, type Entitlement, type StoreAdapter, StoreRefusal, StoreUnavailable } from '../adapter.ts';
import { APPLE_TRUST, type AppleTrust, verifyAppleSignature } from '../apple-signatures.ts';
import {
  askStore,
  countOf,
  everyPage,
  idOf,
  type Json,
  optionalSetting,
  requireOk,
  requireSetting,
} from '../asking.ts';

const SERVERS = {
  production: 'https://api.storekit.itunes.apple.com',
  sandbox: 'https://api.storekit-sandbox.itunes.apple.com',
} as const;
const ENVIRONMENTS = { production: 'Production', sandbox: 'Sandbox' } as const;
const TOKEN_SECONDS = 300;

/**
 * The App Store: the app sends a signed transaction of StoreKit 2. A server cannot consume, only the app can finish a
 * transaction; its id, which Apple never repeats, is what makes a purchase count once here.
 */
export const appleStore = (trust: AppleTrust): StoreAdapter => {
  const read = async (asking: Asking, jws: string): Promise<Entitlement> =>
    entitlementOf(asking, await verifyAppleSignature(trust, jws, asking.app.clock.now()));

  /** The transaction as Apple sees it now; undefined if the game has no key for Apple's API. */
  const current = async (asking: Asking, transactionId: string): Promise<Entitlement | undefined> => {
    const headers = await authorization(asking);
    if (!headers) return undefined;
    const url = `${SERVERS[asking.app.environment]}/inApps/v1/transactions/${encodeURIComponent(transactionId)}`;
    const answer = await askStore(asking, 'apple', url, { headers, rejects: 'settings' });
    if (answer.status === 404)
      throw new StoreRefusal('buyer', 'Apple does not know the transaction', { field: 'receipt' });
    const entitlement = await read(asking, stringOf(requireOk(answer)['signedTransactionInfo']));
    if (entitlement.handle['transactionId'] !== transactionId)
      throw new StoreUnavailable('Apple answered about another transaction');
    return entitlement;
  };

  return {
    retry: 'look-first',
    open: async (asking, { receipt = '' }, linked) => {
      await read(asking, receipt);
      return { buyer: linked ?? '', tokens: { receipt } };
    },
    list: async (asking, { tokens }) => {
      const sent = await read(asking, tokens['receipt'] ?? '');
      const known = new Map([[sent.reference, sent]]);
      for (const jws of await historyOf(asking, sent.handle['transactionId'] ?? '')) {
        const entitlement = await read(asking, jws);
        // The history is newer than what the app sent, and knows of refunds.
        known.set(entitlement.reference, entitlement);
      }
      return [...known.values()];
    },
    verify: async (asking, _session, { handle, state }) =>
      (await current(asking, handle['transactionId'] ?? ''))?.state ?? state,
    consume: async (asking, _session, { handle, state }) => {
      const now = (await current(asking, handle['transactionId'] ?? ''))?.state ?? state;
      return now === 'owned' ? 'consumed' : 'not-owned';
    },
  };
};

export const apple = appleStore(APPLE_TRUST);

export function entitlementOf(asking: Pick<Asking, 'app' | 'settings'>, transaction: Json): Entitlement {
  const bundle = requireSetting(asking.settings, 'bundle_id');
  if (transaction['bundleId'] !== bundle)
    throw new StoreRefusal('buyer', 'a purchase in another app', { field: 'receipt' });
  if (transaction['environment'] !== ENVIRONMENTS[asking.app.environment])
    throw new StoreRefusal('buyer', 'a purchase in another environment of the App Store', { field: 'receipt' });
  const transactionId = idOf(transaction['transactionId']);
  if (!transactionId) throw new StoreRefusal('buyer', 'a transaction without an id', { field: 'receipt' });
  return {
    reference: referenceOf(bundle, transactionId),
    sku: stringOf(transaction['productId']),
    kind: transaction['type'] === 'Consumable' ? 'consumable' : 'durable',
    quantity: Math.max(1, countOf(transaction['quantity'], 1)),
    state: transaction['revocationDate'] === undefined ? 'owned' : 'revoked',
    handle: { transactionId },
  };
}

export const referenceOf = (bundle: string, transactionId: string): string => `${bundle}/${transactionId}`;

/** Further purchases of the same customer in this app, as signed transactions. */
async function historyOf(asking: Asking, transactionId: string): Promise<string[]> {
  const headers = await authorization(asking);
  if (!headers) return [];
  const base = `${SERVERS[asking.app.environment]}/inApps/v2/history/${encodeURIComponent(transactionId)}`;
  return everyPage('', async (revision) => {
    const query = new URLSearchParams({ productType: 'CONSUMABLE', ...(revision && { revision }) });
    const answer = await askStore(asking, 'apple', `${base}?${query}`, { headers, rejects: 'settings' });
    if (answer.status === 404) return { items: [], next: '' };
    const page = requireOk(answer);
    const signed = page['signedTransactions'];
    if (!Array.isArray(signed)) throw new StoreUnavailable('Apple sent no history');
    return { items: signed.map(stringOf), next: page['hasMore'] === true ? stringOf(page['revision']) : '' };
  });
}

/** Apple's API takes short-lived tokens that the game's key signs. */
async function authorization({ app, settings }: Asking): Promise<{ authorization: string } | undefined> {
  const key = optionalSetting(settings, 'private_key');
  return key === undefined ? undefined : { authorization: `Bearer ${await tokenOf(app, settings, key)}` };
}

function tokenOf(app: App, settings: Asking['settings'], key: string): Promise<string> {
  const now = app.clock.now();
  return new SignJWT({ bid: requireSetting(settings, 'bundle_id') })
    .setProtectedHeader({ alg: 'ES256', kid: requireSetting(settings, 'key_id'), typ: 'JWT' })
    .setIssuer(requireSetting(settings, 'issuer_id'))
    .setAudience('appstoreconnect-v1')
    .setIssuedAt(now)
    .setExpirationTime(now + TOKEN_SECONDS)
    .sign(createPrivateKey(key));
}
