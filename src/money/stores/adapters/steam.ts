import { form, objectOf, stringOf } from '../../../signin/portals/platform-requests.ts';
import {
  type Asking,
  type Entitlement,
  type Session,
  type StoreAdapter,
  StoreRefusal,
  StoreUnavailable,
} from '../adapter.ts';
import { askStore, countOf, idOf, type Json, listOf, numberOfKey, requireOk, requireSetting } from '../asking.ts';

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
  return itemsIn(body).map((item) => entitlementOf(appid, item));
}

/** A stack keeps its id when items are added to it, so the time of its last change is part of the reference. */
function entitlementOf(appId: string, item: Json): Entitlement {
  const itemid = idOf(item['itemid']);
  const quantity = countOf(item['quantity'], 0);
  const changed = stringOf(item['state_changed_timestamp']) || stringOf(item['acquired']);
  return {
    reference: `${appId}/${itemid}/${changed}/${quantity}`,
    sku: idOf(item['itemdefid']),
    kind: 'consumable',
    quantity,
    state: quantity > 0 && stringOf(item['state']) !== 'removed' ? 'owned' : 'consumed',
    handle: { itemid },
  };
}
