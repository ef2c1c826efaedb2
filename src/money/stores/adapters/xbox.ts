import { stringOf } from '../../../signin/portals/platform-requests.ts';
import {
  type Asking,
  type Entitlement,
  type Session,
  type StoreAdapter,
  StoreRefusal,
  StoreUnavailable,
} from '../adapter.ts';
import { askStore, countOf, everyPage, type Json, json, listOf, optionalSetting, requireOk } from '../asking.ts';
import { clawedBackOf, LINES } from './xbox-clawbacks.ts';

const COLLECTIONS = 'https://collections.mp.microsoft.com';
/** The user's hash and the token, as the client's library returns them for the licensing service. */
const XSTS = /^XBL3\.0 x=[\w*-]+;[\w.-]+$/;
const PAGE_ITEMS = 100;

/**
 * Xbox: the collections service, asked with the player's XSTS token. A tracking id identifies each consumption, and
 * sending it again confirms the first one.
 */
export const xbox: StoreAdapter = {
  retry: 'same-key',
  open: async (_asking, { xbox_token = '' }, linked) => {
    if (!XSTS.test(xbox_token)) throw new StoreRefusal('buyer', 'not an XSTS token', { field: 'xbox_token' });
    // The token is encrypted for Microsoft: only the collections service knows whose it is.
    if (!linked) throw new StoreRefusal('link', 'no Xbox account is linked');
    return { buyer: linked, tokens: { authorization: xbox_token } };
  },
  list: collectionOf,
  verify: async (asking, session, entitlement) => {
    const items = await collectionOf(asking, session);
    return items.find(({ reference }) => reference === entitlement.reference)?.state ?? 'consumed';
  },
  consume: async (asking, session, { sku, quantity, handle }, key) => {
    const body = {
      productId: sku,
      trackingId: key,
      includeOrderIds: true,
      // A consumable that the developer manages has no balance, and the service rejects a quantity.
      ...(handle['productKind'] === 'Consumable' && { removeQuantity: quantity }),
    };
    const answer = await post(asking, session, '/v8.0/collections/consume', body);
    if (!answer.ok) return 'not-owned';
    if (stringOf(requireOk(answer)['trackingId']).toLowerCase() !== key.toLowerCase())
      throw new StoreUnavailable('Xbox answered about another consumption');
    return { handle: { ...handle, [LINES]: linesOf(requireOk(answer)) } };
  },
  reversals: clawedBackOf,
};

/** The lines of orders that the units came from: refunds name them, and no purchase. */
const linesOf = (answer: Json): string =>
  listOf(answer['orderTransactions'])
    .map(({ orderLineItemId }) => stringOf(orderLineItemId).toLowerCase())
    .filter((line) => line !== '')
    .join(' ');

const post = (asking: Asking, { tokens }: Session, path: string, body: object) =>
  askStore(asking, 'xboxlive', COLLECTIONS + path, {
    ...json('POST', body, { authorization: tokens['authorization'] ?? '' }),
    rejects: 'buyer',
  });

/** The service returns only the products that the request names. */
async function collectionOf(asking: Asking, session: Session): Promise<Entitlement[]> {
  if (asking.skus.length === 0) return [];
  const sandbox = optionalSetting(asking.settings, 'sandbox');
  const request = {
    productSkuIds: asking.skus.map((productId) => ({ productId })),
    maxPageSize: PAGE_ITEMS,
    excludeDuplicates: true,
    validityType: 'All',
    ...(sandbox && { sbx: sandbox }),
  };
  return everyPage('', async (continuationToken) => {
    const body = { ...request, ...(continuationToken && { continuationToken }) };
    const page = requireOk(await post(asking, session, '/v9.0/collections/publisherQuery', body));
    return { items: listOf(page['items']).map(entitlementOf), next: stringOf(page['continuationToken']) };
  });
}

const CONSUMABLES = ['Consumable', 'UnmanagedConsumable'];

/** An item is one per product and has a balance, so the time of its last change is part of the reference. */
function entitlementOf(item: Json): Entitlement {
  const quantity = countOf(item['quantity'], 0);
  const productKind = stringOf(item['productKind']);
  return {
    reference: `${stringOf(item['id'])}/${stringOf(item['modifiedDate'])}/${stringOf(item['transactionId'])}`,
    sku: stringOf(item['productId']),
    kind: CONSUMABLES.includes(productKind) ? 'consumable' : 'durable',
    quantity,
    state: stateOf(stringOf(item['status']), quantity),
    handle: { productKind },
  };
}

function stateOf(status: string, quantity: number): Entitlement['state'] {
  if (status !== 'Active') return 'revoked';
  return quantity > 0 ? 'owned' : 'consumed';
}
