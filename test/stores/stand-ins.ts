import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { Proof, StoreAdapter, StorePortal, StoreSettings } from '../../src/money/stores/adapter.ts';
import { appleStore } from '../../src/money/stores/adapters/apple.ts';
import { STORES } from '../../src/money/stores/stores.ts';
import { START } from '../api.ts';
import { type AppleChain, appleChain } from './apple-chain.ts';
import type { Asked, Reply, StoreServer } from './server.ts';

export const SKU = '1001';
export const BUYER = '76561197972751825';

/** A store of the tests, with the purchases of one buyer. */
export interface StandIn {
  readonly portal: StorePortal;
  readonly adapter: StoreAdapter;
  readonly settings: StoreSettings;
  /** The steps that a sync takes, in which a fault can be planned. */
  readonly steps: readonly string[];
  buy(quantity?: number): void;
  proof(): Promise<Proof>;
  /** How many units the store has consumed. */
  consumed(): number;
  /** The store takes the purchase back. */
  refund(): void;
  /** The buyer has bought nothing. */
  clear(): void;
}

interface Purchase {
  readonly id: string;
  readonly date: number;
  quantity: number;
  used: number;
  refunded: boolean;
}

let counter = 0;

/** The stock of purchases that the stand-ins share. */
class Purchases {
  all: Purchase[] = [];
  consumed = 0;

  buy(quantity = 1): Purchase {
    counter += 1;
    const purchase = { id: String(9_000 + counter), date: START + counter, quantity, used: 0, refunded: false };
    this.all.push(purchase);
    return purchase;
  }

  of(id: string): Purchase | undefined {
    return this.all.find((each) => each.id === id);
  }

  /** False if there is nothing left. */
  use(purchase: Purchase | undefined): boolean {
    if (!purchase || purchase.refunded || purchase.used === purchase.quantity) return false;
    this.consumed += purchase.quantity - purchase.used;
    purchase.used = purchase.quantity;
    return true;
  }

  refund(): void {
    this.all.at(-1)!.refunded = true;
  }
}

const ok = (json: unknown): Reply => ({ json });
const rejected: Reply = { status: 400, json: { error: 'invalid' } };
const forbidden: Reply = { status: 403, json: { error: 'forbidden' } };
const bodyOf = ({ text }: Asked) => JSON.parse(text);

const common = (purchases: Purchases) => ({
  buy: (quantity?: number) => void purchases.buy(quantity),
  consumed: () => purchases.consumed,
  refund: () => purchases.refund(),
  clear: () => {
    purchases.all = [];
  },
});

export function steamStandIn(server: StoreServer): StandIn {
  const purchases = new Purchases();
  const done = new Map<string, unknown>();
  const key = '0123456789ABCDEF0123456789ABCDEF';
  const item = ({ id, quantity, used, date }: Purchase) => ({
    itemid: id,
    quantity: quantity - used,
    itemdefid: SKU,
    state_changed_timestamp: new Date(date * 1_000).toISOString(),
    state: '',
  });
  server.on('list', 'GET', /^\/IInventoryService\/GetInventory\/v1\/$/, ({ query }) => {
    if (query.get('key') !== key) return forbidden;
    const owned = purchases.all.filter((each) => !each.refunded && each.used < each.quantity);
    return ok({ response: { item_json: JSON.stringify(query.get('steamid') === BUYER ? owned.map(item) : []) } });
  });
  server.on('consume', 'POST', /^\/IInventoryService\/ConsumeItem\/v1\/$/, ({ form }) => {
    if (form.get('key') !== key) return forbidden;
    const request = form.get('requestid')!;
    const before = done.get(request);
    if (before) return ok({ response: { item_json: JSON.stringify([before]), replayed: true } });
    const purchase = purchases.of(form.get('itemid')!);
    if (!purchases.use(purchase)) return rejected;
    done.set(request, item(purchase!));
    return ok({ response: { item_json: JSON.stringify([item(purchase!)]) } });
  });
  const order = ({ id, quantity, refunded, date }: Purchase) => ({
    orderid: id,
    transid: id,
    steamid: BUYER,
    status: refunded ? 'Refunded' : 'Succeeded',
    time: new Date(date * 1_000).toISOString(),
    items: [{ itemid: Number(SKU), qty: quantity, itemstatus: refunded ? 'Refunded' : 'Succeeded' }],
  });
  server.on('report', 'GET', /^\/ISteamMicroTxn\/GetReport\/v5\/$/, ({ query }) => {
    if (query.get('key') !== key) return forbidden;
    const orders = query.get('type') === 'STEAMSTORESALES' ? purchases.all.map(order) : [];
    return ok({ response: { result: 'OK', params: { count: orders.length, orders } } });
  });
  return {
    portal: 'steam',
    adapter: STORES.steam,
    settings: { app_id: '480', web_api_key: key },
    steps: ['list', 'consume'],
    proof: async () => ({}),
    ...common(purchases),
  };
}

export function xboxStandIn(server: StoreServer): StandIn {
  const purchases = new Purchases();
  const done = new Map<string, unknown>();
  const token = 'XBL3.0 x=123;token.of.player';
  server.on('list', 'POST', /^\/v9\.0\/collections\/publisherQuery$/, (asked) => {
    if (asked.headers.authorization !== token) return forbidden;
    const wanted = bodyOf(asked).productSkuIds.map(({ productId }: { productId: string }) => productId);
    const items = purchases.all.map((each) => ({
      id: each.id,
      productId: SKU,
      productKind: 'Consumable',
      quantity: each.quantity - each.used,
      status: each.refunded ? 'Revoked' : 'Active',
      modifiedDate: new Date((each.date + each.used) * 1_000).toISOString(),
      transactionId: each.id,
    }));
    // One item per page, to have pages.
    const from = Number(bodyOf(asked).continuationToken ?? 0);
    const page = wanted.includes(SKU) ? items.slice(from, from + 1) : [];
    return ok({ items: page, ...(from + 1 < items.length && { continuationToken: String(from + 1) }) });
  });
  server.on('consume', 'POST', /^\/v8\.0\/collections\/consume$/, (asked) => {
    if (asked.headers.authorization !== token) return forbidden;
    const { trackingId, removeQuantity, includeOrderIds } = bodyOf(asked);
    if (done.has(trackingId)) return ok(done.get(trackingId));
    const purchase = purchases.all.find((each) => each.quantity - each.used === removeQuantity && !each.refunded);
    if (!purchases.use(purchase)) return { status: 409, json: { code: 'Conflict' } };
    const orders = [{ orderId: '1', orderLineItemId: lineOf(purchase!), quantityConsumed: removeQuantity }];
    const orderTransactions = includeOrderIds ? orders : undefined;
    done.set(trackingId, { itemId: '1', newQuantity: 0, trackingId, productId: SKU, orderTransactions });
    return ok(done.get(trackingId));
  });
  clawbackQueue(server, purchases);
  return {
    portal: 'xboxlive',
    adapter: STORES.xboxlive,
    settings: { sandbox: 'RETAIL', tenant_id: 'studio.example', client_id: 'app', client_secret: 'entra secret' },
    steps: ['list', 'consume'],
    proof: async () => ({ xbox_token: token }),
    ...common(purchases),
  };
}

const lineOf = ({ id }: Purchase) => `LINE-${id}`;

/** The queue at Azure with the refunds of the Microsoft Store, and what opens it. */
function clawbackQueue(server: StoreServer, purchases: Purchases): void {
  const removed = new Set<string>();
  server.on('entra', 'POST', /^\/studio\.example\/oauth2\/token$/, ({ form }) =>
    form.get('client_id') === 'app' &&
    form.get('client_secret') === 'entra secret' &&
    form.get('resource') === 'https://onestore.microsoft.com'
      ? ok({ token_type: 'Bearer', access_token: 'entra token', expires_in: '3599' })
      : { status: 400, json: { error: 'invalid_client' } },
  );
  server.on('sas', 'GET', /^\/v8\.0\/b2b\/clawback\/sastoken$/, ({ headers }) =>
    headers.authorization === 'Bearer entra token'
      ? ok({ expiresOn: '2030-01-01T00:00:00Z', uri: 'https://studio.queue.core.windows.net/clawback?sv=1&sig=a%2Bb' })
      : { status: 401, json: {} },
  );
  server.on('queue', 'GET', /^\/clawback\/messages$/, ({ query, headers }) => {
    if (query.get('sig') !== 'a+b' || !headers['x-ms-version']) return { status: 403, xml: '<Error/>' };
    const waiting = purchases.all.filter((each) => each.refunded && !removed.has(each.id));
    const messages = waiting.map((each) => {
      const data = { lineItemId: lineOf(each), orderId: '1', refundState: each.used > 0 ? 'Revoked' : 'Refunded' };
      const text = btoa(JSON.stringify({ id: each.id, type: 'ClawbackEvent', specversion: '1.0', data }));
      return `<QueueMessage><MessageId>${each.id}</MessageId><PopReceipt>r&amp;${each.id}</PopReceipt><MessageText>${text}</MessageText></QueueMessage>`;
    });
    const foreign = '<QueueMessage><MessageId>x</MessageId><MessageText>no event</MessageText></QueueMessage>';
    return { xml: `<?xml version="1.0"?><QueueMessagesList>${foreign}${messages.join('')}</QueueMessagesList>` };
  });
  server.on('acknowledge', 'DELETE', /^\/clawback\/messages\/\w+$/, ({ path, query }) => {
    const id = path.split('/').at(-1)!;
    if (query.get('popreceipt') !== `r&${id}`) return { status: 400, xml: '<Error/>' };
    removed.add(id);
    return { status: 204 };
  });
}

export function metaStandIn(server: StoreServer): StandIn {
  const purchases = new Purchases();
  const secret = 'OC|77|meta secret';
  const owned = () => purchases.all.filter((each) => !each.refunded && each.used === 0);
  server.on('list', 'GET', /^\/77\/viewer_purchases$/, ({ query }) => {
    if (query.get('access_token') !== secret) return forbidden;
    const from = Number(query.get('after') ?? 0);
    if (query.get('user_id') !== BUYER) return ok({ data: [] });
    const data = owned()
      .slice(from, from + 1)
      .map(({ id, date }) => ({ id, grant_time: date, expiration_time: 0, item: { sku: SKU, id: '1' } }));
    const hasMore = from + 1 < owned().length;
    const next = hasMore && { next: 'https://attacker.example/steal' };
    return ok({ data, paging: { cursors: { after: String(from + 1) }, ...next } });
  });
  server.on('verify', 'POST', /^\/77\/verify_entitlement$/, ({ form }) =>
    form.get('access_token') === secret ? ok({ success: owned().length > 0, grant_time: START }) : forbidden,
  );
  server.on('consume', 'POST', /^\/77\/consume_entitlement$/, ({ form }) => {
    if (form.get('access_token') !== secret || form.get('user_id') !== BUYER) return forbidden;
    return ok({ success: purchases.use(owned()[0]) });
  });
  return {
    portal: 'oculus',
    adapter: STORES.oculus,
    settings: { app_id: '77', app_secret: 'meta secret' },
    steps: ['list', 'consume'],
    proof: async () => ({ user_id: BUYER }),
    ...common(purchases),
  };
}

export function epicStandIn(server: StoreServer): StandIn {
  const purchases = new Purchases();
  const authorized = ({ headers }: Asked) => headers.authorization === 'Bearer epic server token';
  server.on('token', 'POST', /^\/epic\/oauth\/v2\/token$/, ({ headers, form }) =>
    headers.authorization === `Basic ${btoa('trusted:epic secret')}` && form.get('grant_type') === 'client_credentials'
      ? ok({ access_token: 'epic server token', expires_in: 7_200 })
      : forbidden,
  );
  const path = `/epic/ecom/v3/identities/${BUYER}/entitlements`;
  server.on('list', 'GET', new RegExp(`^${path}$`), (asked) => {
    if (!authorized(asked)) return forbidden;
    const withRedeemed = asked.query.get('includeRedeemed') === 'true';
    const listed = purchases.all.filter(({ used }) => withRedeemed || used === 0);
    return ok(
      listed.map(({ id, used, refunded }) => ({
        id,
        entitlementName: SKU,
        consumable: true,
        status: refunded ? 'REVOKED' : 'ACTIVE',
        useCount: used,
      })),
    );
  });
  server.on('consume', 'PUT', new RegExp(`^${path}/redeem$`), (asked) => {
    if (!authorized(asked)) return forbidden;
    const { entitlementIds, sandboxId } = bodyOf(asked);
    return sandboxId === 'live' && purchases.use(purchases.of(entitlementIds[0])) ? ok({}) : rejected;
  });
  return {
    portal: 'epicgames',
    adapter: STORES.epicgames,
    settings: { client_id: 'trusted', client_secret: 'epic secret', sandbox_id: 'live', deployment_id: 'main' },
    steps: ['list', 'consume'],
    proof: async () => ({}),
    ...common(purchases),
  };
}

export function playstationStandIn(server: StoreServer): StandIn {
  const purchases = new Purchases();
  const codes = new Set<string>();
  const authorized = ({ headers }: Asked) => headers.authorization === 'Bearer player token';
  server.on('token', 'POST', /^\/2\.0\/oauth\/token$/, ({ headers, form }) => {
    if (headers.authorization !== `Basic ${btoa('psn client:psn secret')}`) return forbidden;
    // A code is good once.
    return codes.delete(form.get('code') ?? '') ? ok({ access_token: 'player token', expires_in: 3_600 }) : rejected;
  });
  const id = (purchase: Purchase) => `UP0001-CUSA00001_00-${purchase.id}-${SKU}`;
  server.on('list', 'GET', /^\/entitlements$/, (asked) => {
    if (!authorized(asked)) return forbidden;
    const all = asked.query.get('service_label') === '1' ? purchases.all : [];
    return ok({
      entitlements: all.map((each) => ({
        id: id(each),
        active_flag: !each.refunded,
        use_limit: each.quantity - each.used,
        use_count: each.used,
      })),
    });
  });
  server.on('consume', 'PUT', /^\/entitlements\/.+$/, (asked) => {
    if (!authorized(asked)) return forbidden;
    const purchase = purchases.all.find((each) => asked.path.endsWith(encodeURIComponent(id(each))));
    return purchases.use(purchase) ? ok({ use_limit: 0 }) : rejected;
  });
  return {
    portal: 'psn',
    adapter: STORES.psn,
    settings: {
      client_id: 'psn client',
      client_secret: 'psn secret',
      entitlements_url: 'https://psn.example/entitlements',
    },
    steps: ['list', 'consume'],
    proof: async () => {
      counter += 1;
      const code = `code ${counter}`;
      codes.add(code);
      return { psn_token: code, psn_env: '256', psn_service_label: '1' };
    },
    ...common(purchases),
  };
}

export function googleStandIn(server: StoreServer): StandIn {
  const purchases = new Purchases();
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const publicKey = createPublicKey(privateKey);
  const authorized = ({ headers }: Asked) => headers.authorization === 'Bearer play token';
  server.on('token', 'POST', /^\/token$/, async ({ form }) => {
    const rules = { issuer: 'play@games.example', audience: 'https://oauth2.googleapis.com/token' };
    const currentDate = new Date(START * 1_000);
    const signed = await jwtVerify(form.get('assertion') ?? '', publicKey, { ...rules, currentDate }).catch(() => null);
    const isForUs = signed?.payload['scope'] === 'https://www.googleapis.com/auth/androidpublisher';
    return isForUs ? ok({ access_token: 'play token', expires_in: 3_600 }) : rejected;
  });
  const base = `^/androidpublisher/v3/applications/com\\.example\\.game/purchases/products/${SKU}/tokens/`;
  const purchaseIn = ({ path }: Asked) => purchases.of(/tokens\/token-(\d+)/.exec(path)?.[1] ?? '');
  server.on('list', 'GET', new RegExp(`${base}[^:]+$`), (asked) => {
    if (!authorized(asked)) return forbidden;
    const purchase = purchaseIn(asked);
    if (!purchase) return { status: 404, json: {} };
    return ok({
      purchaseState: purchase.refunded ? 1 : 0,
      consumptionState: purchase.used > 0 ? 1 : 0,
      quantity: purchase.quantity,
      orderId: `GPA.${purchase.id}`,
    });
  });
  server.on('consume', 'POST', new RegExp(`${base}.+:consume$`), (asked) => {
    if (!authorized(asked)) return forbidden;
    return purchases.use(purchaseIn(asked)) ? {} : rejected;
  });
  return {
    portal: 'google',
    adapter: STORES.google,
    settings: {
      package_name: 'com.example.game',
      service_account_email: 'play@games.example',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
      push_audience: 'https://mods.example.com/v1/notifications/google',
      push_email: 'push@games.example',
    },
    steps: ['list', 'consume'],
    proof: async () => {
      const purchaseToken = `token-${purchases.all.at(-1)!.id}`;
      const receipt = { packageName: 'com.example.game', productId: SKU, purchaseToken };
      return { receipt: Buffer.from(JSON.stringify(receipt)).toString('base64') };
    },
    ...common(purchases),
  };
}

export const BUNDLE = 'com.example.game';

export async function appleStandIn(server: StoreServer): Promise<StandIn & { readonly chain: AppleChain }> {
  const purchases = new Purchases();
  const chain = await appleChain({ now: START });
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicKey = createPublicKey(privateKey);
  const signed = ({ id, quantity, refunded }: Purchase) =>
    chain.sign({
      transactionId: id,
      originalTransactionId: id,
      bundleId: BUNDLE,
      productId: SKU,
      type: 'Consumable',
      quantity,
      environment: 'Production',
      signedDate: START * 1_000,
      ...(refunded && { revocationDate: START * 1_000, revocationReason: 0 }),
    });
  const authorized = async ({ headers }: Asked) => {
    const token = headers.authorization?.replace('Bearer ', '') ?? '';
    const rules = { issuer: 'issuer', audience: 'appstoreconnect-v1', currentDate: new Date(START * 1_000) };
    const verified = await jwtVerify(token, publicKey, rules).catch(() => null);
    return verified?.payload['bid'] === BUNDLE && verified.protectedHeader.kid === 'KEY';
  };
  server.on('history', 'GET', /^\/inApps\/v2\/history\/\d+$/, async (asked) => {
    if (!(await authorized(asked))) return { status: 401, json: {} };
    // One transaction per page.
    const from = Number(asked.query.get('revision') ?? 0);
    const page = await Promise.all(purchases.all.slice(from, from + 1).map(signed));
    return ok({ signedTransactions: page, revision: String(from + 1), hasMore: from + 1 < purchases.all.length });
  });
  // The App Store cannot be asked to consume: the last look at the transaction decides.
  server.on('consume', 'GET', /^\/inApps\/v1\/transactions\/\d+$/, async (asked) => {
    if (!(await authorized(asked))) return { status: 401, json: {} };
    const purchase = purchases.of(asked.path.split('/').at(-1)!);
    return purchase ? ok({ signedTransactionInfo: await signed(purchase) }) : { status: 404, json: {} };
  });
  return {
    portal: 'apple',
    adapter: appleStore({ root: chain.root }),
    chain,
    settings: {
      bundle_id: BUNDLE,
      issuer_id: 'issuer',
      key_id: 'KEY',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    },
    steps: ['history', 'consume'],
    proof: async () => ({ receipt: await signed(purchases.all[0]!) }),
    ...common(purchases),
  };
}
