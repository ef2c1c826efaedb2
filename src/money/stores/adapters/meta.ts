import { form, objectOf, stringOf } from '../../../signin/portals/platform-requests.ts';
import {
  type Asking,
  type Entitlement,
  type Session,
  type StoreAdapter,
  StoreRefusal,
  StoreUnavailable,
} from '../adapter.ts';
import { askStore, countOf, everyPage, idOf, type Json, listOf, requireOk, requireSetting } from '../asking.ts';

const GRAPH = 'https://graph.oculus.com';

/**
 * Meta: purchases of an app-scoped user. `consume_entitlement` names a product, not a purchase, and has no key: it is
 * sent only while the purchase is listed, because a repetition would consume the next purchase of that product.
 */
export const meta: StoreAdapter = {
  retry: 'look-first',
  open: async (_asking, { user_id }, linked) => {
    // The app's secret may consume for every user, so a user id from the client proves nothing.
    if (!linked || (user_id && user_id !== linked)) throw new StoreRefusal('link', 'not the linked Meta account');
    return { buyer: linked, tokens: {} };
  },
  list: purchasesOf,
  verify: async (asking, session, entitlement) => {
    const listed = (await purchasesOf(asking, session)).find(({ reference }) => reference === entitlement.reference);
    // Consumed purchases are not listed any more.
    if (!listed) return 'consumed';
    return (await isEntitled(asking, session, entitlement.sku)) ? listed.state : 'revoked';
  },
  consume: async (asking, session, { sku }) => {
    const answer = await post(asking, session, 'consume_entitlement', sku);
    return answer.ok && requireOk(answer)['success'] === true ? 'consumed' : 'not-owned';
  },
};

const accessToken = ({ settings }: Asking) =>
  `OC|${requireSetting(settings, 'app_id')}|${requireSetting(settings, 'app_secret')}`;

function post(asking: Asking, { buyer }: Session, edge: string, sku: string) {
  const fields = { access_token: accessToken(asking), user_id: buyer, sku };
  const url = `${GRAPH}/${requireSetting(asking.settings, 'app_id')}/${edge}`;
  return askStore(asking, 'oculus', url, { ...form(fields), rejects: 'settings' });
}

async function isEntitled(asking: Asking, session: Session, sku: string): Promise<boolean> {
  return requireOk(await post(asking, session, 'verify_entitlement', sku))['success'] === true;
}

async function purchasesOf(asking: Asking, { buyer }: Session): Promise<Entitlement[]> {
  const { app, settings } = asking;
  const appId = requireSetting(settings, 'app_id');
  const now = app.clock.now();
  const query = {
    access_token: accessToken(asking),
    user_id: buyer,
    fields: 'id,grant_time,expiration_time,item{sku}',
  };
  return everyPage('', async (after) => {
    const parameters = new URLSearchParams({ ...query, ...(after && { after }) });
    const url = `${GRAPH}/${appId}/viewer_purchases?${parameters}`;
    const page = requireOk(await askStore(asking, 'oculus', url, { rejects: 'settings' }));
    if (!Array.isArray(page['data'])) throw new StoreUnavailable('Meta sent no list of purchases');
    const { cursors, next } = objectOf(page['paging']);
    return {
      items: listOf(page['data']).map((purchase) => entitlementOf(`${appId}/${buyer}`, purchase, now)),
      // The address of the next page contains the secret and could lead anywhere; the cursor is enough.
      next: next ? stringOf(objectOf(cursors)['after']) : '',
    };
  });
}

function entitlementOf(scope: string, purchase: Json, now: number): Entitlement {
  const id = idOf(purchase['id']);
  const sku = stringOf(objectOf(purchase['item'])['sku']);
  const ends = countOf(purchase['expiration_time'], 0);
  return {
    // Meta's example has the id 0 for every purchase, so the time of the grant makes it unique.
    reference: `${scope}/${id}/${countOf(purchase['grant_time'], 0)}/${sku}`,
    sku,
    kind: 'consumable',
    quantity: 1,
    state: ends === 0 || ends > now ? 'owned' : 'revoked',
    handle: { id },
  };
}
