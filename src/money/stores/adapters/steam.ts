import { form, objectOf, stringOf } from '../../../signin/portals/platform-requests.ts';
import {
  type Asking,
  type Entitlement,
  type KnownPurchase,
  type Session,
  type StoreAdapter,
  StoreRefusal,
  StoreUnavailable,
} from '../adapter.ts';
import {
  askStore,
  countOf,
  everyPage,
  idOf,
  type Json,
  listOf,
  numberOfKey,
  requireOk,
  requireSetting,
} from '../asking.ts';

const PARTNER = 'https://partner.steam-api.com';

/**
 * Steam: items in the game's inventory service (`economy`), consumed with a request id that Steam executes at most once.
 */
export const steam: StoreAdapter = {
  retry: 'same-key',
  // Everyone knows everyone's Steam id, so only a linked account counts.
  open: async (_asking, _proof, linked) => {
    if (!linked) throw new StoreRefusal('link', 'no Steam account is linked');
    return { buyer: linked, tokens: {} };
  },
  list: inventoryOf,
  verify: async (asking, session, { handle }) => {
    const items = await inventoryOf(asking, session);
    return items.find((item) => item.handle['itemid'] === handle['itemid'])?.state ?? 'consumed';
  },
  consume: async (asking, session, { handle, quantity }, key) => {
    const fields = {
      ...credentials(asking),
      steamid: session.buyer,
      itemid: handle['itemid'] ?? '',
      quantity: String(quantity),
      requestid: numberOfKey(key),
    };
    const url = `${PARTNER}/IInventoryService/ConsumeItem/v1/`;
    const answer = await askStore(asking, 'steam', url, { ...form(fields), rejects: 'settings' });
    if (!answer.ok) return 'not-owned';
    // Items that Steam did not touch are not in the answer.
    const touched = itemsIn(answer.body).some((item) => idOf(item['itemid']) === handle['itemid']);
    if (!touched) throw new StoreUnavailable('Steam does not name the consumed item');
    return 'consumed';
  },
  reversals: async (asking, known) => ({ references: await refundedOf(asking, known) }),
};

const credentials = ({ settings }: Asking) => ({
  key: requireSetting(settings, 'web_api_key'),
  appid: requireSetting(settings, 'app_id'),
});

/** The items are JSON within JSON. */
function itemsIn(body: unknown): readonly Json[] {
  const { item_json } = objectOf(objectOf(body)['response']);
  try {
    return listOf(JSON.parse(stringOf(item_json) || '[]'));
  } catch (cause) {
    throw new StoreUnavailable('Steam sent no readable inventory', { cause });
  }
}

async function inventoryOf(asking: Asking, { buyer }: Session): Promise<Entitlement[]> {
  const query = new URLSearchParams({ ...credentials(asking), steamid: buyer });
  const url = `${PARTNER}/IInventoryService/GetInventory/v1/?${query}`;
  const body = requireOk(await askStore(asking, 'steam', url, { rejects: 'settings' }));
  const { appid } = credentials(asking);
  return itemsIn(body).map((item) => entitlementOf(appid, buyer, item));
}

/** A stack keeps its id when items are added to it, so the time of its last change is part of the reference. */
function entitlementOf(appId: string, steamid: string, item: Json): Entitlement {
  const itemid = idOf(item['itemid']);
  const quantity = countOf(item['quantity'], 0);
  const changed = stringOf(item['state_changed_timestamp']) || stringOf(item['acquired']);
  return {
    reference: `${appId}/${itemid}/${changed}/${quantity}`,
    sku: idOf(item['itemdefid']),
    kind: 'consumable',
    quantity,
    state: quantity > 0 && stringOf(item['state']) !== 'removed' ? 'owned' : 'consumed',
    handle: { itemid, steamid },
  };
}

const DAY = 86_400;
/** Longer than purchases are asked about, so that the order of each of them is in the report. */
const REPORT_SECONDS = 90 * DAY;
const REPORT_ORDERS = 1_000;
/** Sales in the game, and in the item store of Steam. */
const REPORTS = ['GAMESALES', 'STEAMSTORESALES'];
const TAKEN_BACK = ['Refunded', 'Chargedback', 'RefundedSuspectedFraud', 'RefundedFriendlyFraud'];
const NEVER_PAID = ['Init', 'Failed', 'Denied'];

/**
 * Steam reports orders by buyer and product, and no order names the item that it gave. Whoever has consumed more of a
 * product than the orders that stand has been refunded for the difference.
 */
async function refundedOf(asking: Asking, known: readonly KnownPurchase[]): Promise<string[]> {
  const nameOf = (steamid: string, sku: string) => `${steamid}/${sku}`;
  const standing = new Map<string, number>();
  const takenBack = new Map<string, number>();
  for (const { steamid, sku, quantity, status } of await reportedSales(asking)) {
    const sums = TAKEN_BACK.includes(status) ? takenBack : standing;
    const name = nameOf(steamid, sku);
    if (!NEVER_PAID.includes(status)) sums.set(name, (sums.get(name) ?? 0) + quantity);
  }
  const owned = Map.groupBy(known, ({ sku, handle }) => nameOf(handle['steamid'] ?? '', sku));
  return [...takenBack].flatMap(([name, refunded]) => {
    const purchases = owned.get(name) ?? [];
    const consumed = purchases.reduce((sum, { quantity }) => sum + quantity, 0);
    return newestWithin(purchases, Math.min(refunded, consumed - (standing.get(name) ?? 0)));
  });
}

/** The newest purchases of at most this many units. A part of a stack is not taken back. */
function newestWithin(purchases: readonly KnownPurchase[], units: number): string[] {
  let left = units;
  return purchases
    .toSorted((one, other) => other.date - one.date)
    .filter(({ quantity }) => {
      const fits = quantity <= left;
      if (fits) left -= quantity;
      return fits;
    })
    .map(({ reference }) => reference);
}

interface Sale {
  readonly steamid: string;
  readonly sku: string;
  readonly quantity: number;
  readonly status: string;
}

async function reportedSales(asking: Asking): Promise<Sale[]> {
  const orders = new Map<string, Json>();
  for (const type of REPORTS)
    for (const order of await reportOf(asking, type))
      orders.set(idOf(order['orderid']) || idOf(order['transid']), order);
  return [...orders.values()].flatMap((order) =>
    listOf(order['items']).map((item) => ({
      steamid: idOf(order['steamid']),
      sku: idOf(item['itemid']),
      quantity: countOf(item['qty'], 1),
      status: stringOf(item['itemstatus']) || stringOf(order['status']),
    })),
  );
}

/** Each page begins with the time of the last order of the page before. */
function reportOf(asking: Asking, type: string): Promise<Json[]> {
  const { app } = asking;
  const sales = app.environment === 'sandbox' ? 'ISteamMicroTxnSandbox' : 'ISteamMicroTxn';
  const first = new Date((app.clock.now() - REPORT_SECONDS) * 1_000).toISOString();
  return everyPage(first, async (time) => {
    const query = new URLSearchParams({ ...credentials(asking), type, time, maxresults: String(REPORT_ORDERS) });
    const url = `${PARTNER}/${sales}/GetReport/v5/?${query}`;
    const { response } = requireOk(await askStore(asking, 'steam', url, { rejects: 'settings' }));
    const { result, params } = objectOf(response);
    if (result !== 'OK') throw new StoreUnavailable('Steam has no report');
    const items = listOf(objectOf(params)['orders']);
    return { items, next: items.length < REPORT_ORDERS ? '' : stringOf(items.at(-1)!['time']) };
  });
}
