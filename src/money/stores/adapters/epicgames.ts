import { verifyToken } from '../../../signin/portals/jwt.ts';
import { addressOf, form, stringOf } from '../../../signin/portals/platform-requests.ts';
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
import { serverAuthorization } from '../server-tokens.ts';

const EPIC = 'https://api.epicgames.dev';
const PAGE_ITEMS = 100;

/** Epic Games Store: entitlements of an account, redeemed by the game's trusted-server client. */
export const epicgames: StoreAdapter = {
  retry: 'look-first',
  open: async (asking, { epicgames_token, epicgames_sandbox_id }, linked) => {
    const sandbox = requireSetting(asking.settings, 'sandbox_id');
    // Purchases of a development sandbox cost nothing.
    if (epicgames_sandbox_id && epicgames_sandbox_id !== sandbox)
      throw new StoreRefusal('buyer', 'another sandbox than that of the game', { field: 'epicgames_sandbox_id' });
    const buyer = epicgames_token ? await accountOf(asking, epicgames_token) : linked;
    if (!buyer) throw new StoreRefusal('link', 'no Epic Games account is linked');
    return { buyer, tokens: {} };
  },
  list: (asking, session) => entitlementsOf(asking, session, false),
  verify: async (asking, session, entitlement) => {
    const isSame = ({ reference }: Entitlement) => reference === entitlement.reference;
    const open = (await entitlementsOf(asking, session, false)).find(isSame);
    if (open) return open.state;
    // Redeemed entitlements stay in the longer list, so one that is in neither was withdrawn.
    const known = (await entitlementsOf(asking, session, true)).find(isSame);
    return known?.state === 'owned' ? 'consumed' : 'revoked';
  },
  consume: async (asking, session, { handle }) => {
    const url = `${addressFor(session)}/redeem`;
    const sandboxId = requireSetting(asking.settings, 'sandbox_id');
    const request = json('PUT', { sandboxId, entitlementIds: [handle['id']] }, await authorization(asking));
    const answer = await askStore(asking, 'epicgames', url, { ...request, rejects: 'settings' });
    return answer.ok ? 'consumed' : 'not-owned';
  },
  reversals: async (asking, known) => ({ references: await withdrawnOf(asking, known) }),
};

/** Accounts that one look asks about. */
const ACCOUNTS_AT_ONCE = 200;
const HOUR = 3_600;

/** Asks about some accounts each hour. One that is not listed any more may have been forgotten, so it says nothing. */
async function withdrawnOf(asking: Asking, known: readonly KnownPurchase[]): Promise<string[]> {
  const byAccount = [...Map.groupBy(known, ({ handle }) => handle['account'] ?? '')].filter(([account]) => account);
  const parts = Math.ceil(byAccount.length / ACCOUNTS_AT_ONCE);
  const part = Math.floor(asking.app.clock.now() / HOUR) % Math.max(1, parts);
  const withdrawn: string[] = [];
  for (const [buyer, purchases] of byAccount.slice(part * ACCOUNTS_AT_ONCE, (part + 1) * ACCOUNTS_AT_ONCE)) {
    const listed = await entitlementsOf(asking, { buyer, tokens: {} }, true);
    const revoked = new Set(listed.filter(({ state }) => state === 'revoked').map(({ reference }) => reference));
    withdrawn.push(...purchases.map(({ reference }) => reference).filter((reference) => revoked.has(reference)));
  }
  return withdrawn;
}

const addressFor = ({ buyer }: Session) => `${EPIC}/epic/ecom/v3/identities/${encodeURIComponent(buyer)}/entitlements`;

/** The player's access token or ID token shows whose purchases these are. */
async function accountOf({ app, settings }: Asking, token: string): Promise<string> {
  const clients = settings['user_client_ids'];
  const claims = await verifyToken(app, token, {
    keysUrl: addressOf(app, 'epicgames', `${EPIC}/epic/oauth/v2/.well-known/jwks.json`),
    algorithms: ['RS256', 'RS512'],
    issuers: [`${EPIC}/epic/oauth/v1`, `${EPIC}/epic/oauth/v2`],
    audiences: Array.isArray(clients) ? clients : [requireSetting(settings, 'client_id')],
    refusals: {
      invalid: 'EPIC_GAMES_INVALID_TOKEN',
      early: 'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_BEFORE',
      late: 'EPIC_GAMES_INVALID_TOKEN_NOT_VALID_AFTER',
      issuer: 'EPIC_GAMES_INVALID_TOKEN_ISSUER_NOT_RECOGNIZED',
      keys: 'EPIC_GAMES_UNABLE_TO_GET_JWK_SIGNATURE',
    },
  });
  return stringOf(claims.sub);
}

function authorization(asking: Asking): Promise<{ authorization: string }> {
  const { gameId, settings } = asking;
  const account = `epicgames ${gameId} ${requireSetting(settings, 'client_id')}`;
  return serverAuthorization(asking, account, requireSetting(settings, 'client_secret'), () => serverToken(asking));
}

async function serverToken(asking: Asking): Promise<{ token: string; seconds: number }> {
  const { settings } = asking;
  const request = form({
    grant_type: 'client_credentials',
    deployment_id: optionalSetting(settings, 'deployment_id') ?? '',
  });
  const client = basicAuthorization(requireSetting(settings, 'client_id'), requireSetting(settings, 'client_secret'));
  const answer = await askStore(asking, 'epicgames', `${EPIC}/epic/oauth/v2/token`, {
    ...request,
    headers: { ...request.headers, authorization: client },
    rejects: 'settings',
  });
  if (!answer.ok) throw new StoreRefusal('settings', 'Epic rejects the trusted-server client');
  const { access_token, expires_in } = requireOk(answer);
  if (!stringOf(access_token)) throw new StoreUnavailable('Epic sent no token');
  return { token: stringOf(access_token), seconds: countOf(expires_in, 0) };
}

async function entitlementsOf(asking: Asking, session: Session, withRedeemed: boolean): Promise<Entitlement[]> {
  const sandbox = requireSetting(asking.settings, 'sandbox_id');
  return everyPage('0', async (start) => {
    const query = { sandboxId: sandbox, includeRedeemed: String(withRedeemed), start, count: String(PAGE_ITEMS) };
    const answer = await askStore(asking, 'epicgames', `${addressFor(session)}?${new URLSearchParams(query)}`, {
      headers: { accept: 'application/json', ...(await authorization(asking)) },
      rejects: 'settings',
    });
    requireOk(answer);
    if (!Array.isArray(answer.body)) throw new StoreUnavailable('Epic sent no list of entitlements');
    const items = listOf(answer.body).map((each) => entitlementOf(sandbox, session.buyer, each));
    return { items, next: items.length < PAGE_ITEMS ? '' : String(Number(start) + items.length) };
  });
}

/** Each purchase of a consumable is an entitlement of its own. */
function entitlementOf(sandbox: string, account: string, each: Json): Entitlement {
  const id = stringOf(each['id']);
  return {
    reference: `${sandbox}/${id}`,
    sku: stringOf(each['entitlementName']) || stringOf(each['catalogItemId']),
    kind: each['consumable'] === false ? 'durable' : 'consumable',
    quantity: 1,
    state: each['status'] === 'ACTIVE' ? 'owned' : 'revoked',
    handle: { id, account },
  };
}
