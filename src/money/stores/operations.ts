import { z } from 'zod';
import { anyone, type UserCaller, user } from '../../platform/access/caller.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { GamePath, PathId, pageOf } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import type { StorePortal } from './adapter.ts';
import { EveryStore, Game, type Sent, SimulatedOrderBody, StoreSettingsBody } from './changes.ts';
import { handleNotification, readAppleNotification, readGoogleNotification } from './notifications.ts';
import {
  EntitlementObject,
  EPIC_REFUSALS,
  GameStoreObject,
  GameStorePath,
  onOnePage,
  SimulatedPurchaseObject,
  StorePurchasesObject,
  toEntitlement,
  toGameStore,
  toSimulatedPurchase,
  toStorePurchases,
} from './object.ts';
import { Epic, Meta, PlayStationOfClients, proofOf, Receipt, storeOf, Xbox } from './proof.ts';
import { bringPurchases, listEntitlements } from './selling.ts';
import { changeStoreSettings, listStoreSettings, removeStoreSettings } from './settings.ts';
import { buySimulated, paySimulated, refundSimulated } from './simulated.ts';

const REFUSALS = [
  'GAME_NOT_FOUND',
  'GAME_DELETED',
  'OAUTH_UNEXPECTED_GAME_REFERENCE',
  'USER_CONNECTION_MEMBER_NOT_FOUND',
  'MONETIZATION_SITE_MONETIZATION_DISABLED',
  'MONETIZATION_GAME_MONETIZATION_DISABLED',
  'MONETIZATION_IAP_NOT_CONFIGURED',
  'MONETIZATION_REQUEST_ERROR',
  'MONETIZATION_PORTAL_CONSUME_FAILED',
] as const satisfies readonly ErrorName[];

interface Asked {
  readonly caller: UserCaller;
  readonly body: Sent;
  readonly hostGameId: number | undefined;
}

/** The game that the body names, or else that of the host name or of the token. They must not differ. */
function gameOf({ caller, body, hostGameId }: Asked): number {
  const named = [body.game_id, hostGameId, caller.gameId].filter((id) => id !== undefined);
  const [gameId] = named;
  if (gameId === undefined)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'game_id', rule: 'required' }] });
  if (named.some((id) => id !== gameId)) throw new ApiError('OAUTH_UNEXPECTED_GAME_REFERENCE');
  return gameId;
}

/** For locks: without a game the handler refuses before it writes. */
const gamesOf = (asked: unknown): readonly number[] => {
  const { caller, body, hostGameId } = asked as Asked;
  const gameId = body.game_id ?? hostGameId ?? caller.gameId;
  return gameId === undefined ? [] : [gameId];
};

interface StoreOperation<F extends z.ZodRawShape> {
  /** As the dialect calls the store in paths. */
  readonly name: string;
  readonly portal: StorePortal;
  readonly says: string;
  readonly fields: F;
  readonly errors?: readonly ErrorName[];
}

const syncing = <F extends z.ZodRawShape>({ name, portal, says, fields, errors = [] }: StoreOperation<F>) =>
  operation({
    id: `sync-entitlements-${name}`,
    tag: 'Monetization',
    method: 'POST',
    path: `/me/iap/${name}/sync`,
    says: `${says} Each is consumed there and gives the tokens of its pack here once, however often the request is repeated.`,
    access: user('write', 'money'),
    limit: 30,
    body: z.object({ ...Game, ...fields }),
    emptyBody: true,
    under: ['games'],
    names: { games: gamesOf },
    returns: ok(StorePurchasesObject),
    errors: [...REFUSALS, ...errors],
    handle: async (app, input) => {
      const asked = { caller: input.caller, body: input.body as Sent, hostGameId: input.hostGameId };
      const request = { gameId: gameOf(asked), portal, proof: proofOf(asked.body) };
      return toStorePurchases(await bringPurchases(app, input.caller, request));
    },
  });

export const syncApple = syncing({
  name: 'apple',
  portal: 'apple',
  says: 'Brings the consumables that the person has bought in the App Store. `receipt` is a signed transaction of StoreKit 2.',
  fields: Receipt,
});
export const syncEpicgames = syncing({
  name: 'epicgames',
  portal: 'epicgames',
  says: 'Brings the consumables that the person has bought in the Epic Games Store.',
  fields: Epic,
  errors: EPIC_REFUSALS,
});
export const syncGoogle = syncing({
  name: 'google',
  portal: 'google',
  says: 'Brings a consumable that the person has bought on Google Play. `receipt` is the purchase data of the billing library, as JSON or in base64.',
  fields: Receipt,
});
export const syncMeta = syncing({
  name: 'meta',
  portal: 'oculus',
  says: 'Brings the consumables that the person has bought in the Meta Horizon Store, with the linked Meta account.',
  fields: Meta,
});
export const syncPs = syncing({
  name: 'ps',
  portal: 'psn',
  says: 'The same as `POST /me/iap/psn/sync`, at the path that SDKs use.',
  fields: PlayStationOfClients,
});
export const syncPsn = syncing({
  name: 'psn',
  portal: 'psn',
  says: 'Brings the consumables that the person has bought in the PlayStation Store.',
  fields: PlayStationOfClients,
});
export const syncSteam = syncing({
  name: 'steam',
  portal: 'steam',
  says: 'Brings the items of the game in the person’s Steam inventory, with the linked Steam account.',
  fields: {},
});
export const syncXboxlive = syncing({
  name: 'xboxlive',
  portal: 'xboxlive',
  says: 'Brings the consumables that the person has bought in the Microsoft Store.',
  fields: Xbox,
});

export const getUserEntitlements = operation({
  id: 'get-user-entitlements',
  tag: 'Me',
  method: 'POST',
  path: '/me/entitlements',
  says: 'Lists what the person has bought at the store of the portal header and not used. Nothing is consumed.',
  access: user('read', 'money'),
  unlocked: 'writes nothing',
  limit: 30,
  body: EveryStore,
  emptyBody: true,
  returns: ok(pageOf(EntitlementObject)),
  errors: [...REFUSALS, 'MONETIZATION_PORTAL_INVALID', ...EPIC_REFUSALS],
  handle: async (app, input) => {
    const { caller, body, hostGameId, portal, platform } = input;
    const store = storeOf(portal, platform);
    if (!store) throw new ApiError('MONETIZATION_PORTAL_INVALID', { status: 400 });
    const request = { gameId: gameOf({ caller, body, hostGameId }), portal: store, proof: proofOf(body) };
    return onOnePage((await listEntitlements(app, caller, request)).map(toEntitlement));
  },
});

const ADMIN_REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_ADMIN_PERMISSION'] as const;

export const getGameStores = operation({
  id: 'get-game-stores',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/stores',
  says: 'Lists the stores at which a game sells token packs, without secrets. For its administrators.',
  access: user('read', 'team'),
  params: GamePath,
  returns: ok(pageOf(GameStoreObject)),
  errors: ADMIN_REFUSALS,
  handle: async (app, { caller, params }) => {
    const shown = await listStoreSettings(app, caller, params.game_id);
    return onOnePage(shown.map((each) => toGameStore(each, app.addresses.api)));
  },
});

export const editGameStore = operation({
  id: 'edit-game-store',
  tag: 'Monetization',
  method: 'PUT',
  path: '/games/{game_id}/monetization/stores/{portal}',
  says: 'Configures how the service verifies and consumes purchases at a store. Fields that are not sent keep their values. For administrators of the game.',
  access: user('write', 'team'),
  params: GameStorePath,
  body: StoreSettingsBody,
  emptyBody: true,
  sameOrigin: true,
  returns: ok(GameStoreObject),
  errors: ADMIN_REFUSALS,
  handle: async (app, { caller, params, body }) =>
    toGameStore(await changeStoreSettings(app, caller, params.game_id, params.portal, body), app.addresses.api),
});

export const deleteGameStore = operation({
  id: 'delete-game-store',
  tag: 'Monetization',
  method: 'DELETE',
  path: '/games/{game_id}/monetization/stores/{portal}',
  says: 'Stops the sale at a store and forgets its secrets. Pending purchases wait until the game sells there again. For administrators of the game.',
  access: user('write', 'team'),
  params: GameStorePath,
  returns: noContent,
  errors: [...ADMIN_REFUSALS, 'RESOURCE_NOT_FOUND'],
  handle: (app, { caller, params }) => removeStoreSettings(app, caller, params.game_id, params.portal),
});

const CALLBACK_REFUSALS = [
  'USER_CALLBACK_TOKEN_INVALID',
  'USER_CALLBACK_TOKEN_FAILED_JWT_SIGNATURE',
  'USER_CALLBACK_TOKEN_FAILED_JWT_CLAIMS',
] as const;

export const notifyGoogle = operation({
  id: 'receive-google-notification',
  tag: 'Monetization',
  method: 'POST',
  path: '/notifications/google',
  says: 'Receives real-time developer notifications of Google Play from a push subscription of Pub/Sub. A purchase that Google has voided is taken back.',
  access: anyone(),
  unlocked: 'locks the purchase that it takes back',
  headers: {
    authorization: { says: 'The token of Pub/Sub, for the audience and the account of the game’s settings.' },
  },
  body: z.object({
    message: z.record(z.string(), z.unknown()).optional().meta({ description: 'The message of Pub/Sub.' }),
    subscription: z.string().max(1_000).optional(),
  }),
  emptyBody: true,
  json: true,
  returns: noContent,
  errors: [
    ...CALLBACK_REFUSALS,
    'USER_CALLBACK_TOKEN_FAILED_JWE_HEADERS',
    'USER_CALLBACK_TOKEN_FAILED_JWT_HEADERS',
    'USER_CALLBACK_TOKEN_FAILED_HANDLER',
  ],
  handle: async (app, { headers, body }) => {
    const notification = await readGoogleNotification(app, headers['authorization'] ?? '', body);
    await handleNotification(app, notification);
  },
});

export const notifyApple = operation({
  id: 'receive-apple-notification',
  tag: 'Monetization',
  method: 'POST',
  path: '/notifications/apple',
  says: 'Receives App Store Server Notifications, version 2. A purchase that Apple has refunded is taken back.',
  access: anyone(),
  unlocked: 'locks the purchase that it takes back',
  body: z.object({ signedPayload: z.string().max(200_000).default('') }),
  emptyBody: true,
  json: true,
  returns: noContent,
  errors: CALLBACK_REFUSALS,
  handle: async (app, { body }) => {
    await handleNotification(app, await readAppleNotification(app, body.signedPayload));
  },
});

const SIMULATED = '/games/{game_id}/monetization/stores/{portal}/simulated-purchases';
const OF_GAMES = ['GAME_NOT_FOUND', 'GAME_DELETED'] as const;
const SimulatedPath = GameStorePath.extend({ simulated_purchase_id: PathId });
const nameOf = (params: z.output<typeof SimulatedPath>) => ({
  gameId: params.game_id,
  portal: params.portal,
  id: params.simulated_purchase_id,
});

export const addSimulatedPurchase = operation({
  id: 'add-simulated-purchase',
  tag: 'Monetization',
  method: 'POST',
  path: SIMULATED,
  says: 'Buys at the simulated store, which stands for a store that the game has not configured, in the sandbox and where the operator switched it on. No money moves.',
  access: user('write', 'money'),
  params: GameStorePath,
  body: SimulatedOrderBody,
  returns: ok(SimulatedPurchaseObject),
  errors: [
    ...OF_GAMES,
    'MONETIZATION_SITE_MONETIZATION_DISABLED',
    'MONETIZATION_GAME_MONETIZATION_DISABLED',
    'MONETIZATION_IAP_NOT_CONFIGURED',
    'MONETIZATION_SKU_MISSING',
  ],
  handle: async (app, { caller, params: { game_id: gameId, portal }, body }) => {
    const { sku, quantity, fault, pending: isPending } = body;
    return toSimulatedPurchase(await buySimulated(app, caller, { gameId, portal, sku, quantity, fault, isPending }));
  },
});

export const paySimulatedPurchase = operation({
  id: 'pay-simulated-purchase',
  tag: 'Monetization',
  method: 'POST',
  path: `${SIMULATED}/{simulated_purchase_id}/pay`,
  says: 'Pays for a pending purchase at the simulated store.',
  access: user('write', 'money'),
  params: SimulatedPath,
  returns: ok(SimulatedPurchaseObject),
  errors: [...OF_GAMES, 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params }) => toSimulatedPurchase(await paySimulated(app, caller, nameOf(params))),
});

export const refundSimulatedPurchase = operation({
  id: 'refund-simulated-purchase',
  tag: 'Monetization',
  method: 'POST',
  path: `${SIMULATED}/{simulated_purchase_id}/refund`,
  says: 'The simulated store refunds a purchase and notifies the service: the tokens are taken back, and what was spent of them is owed.',
  access: user('write', 'money'),
  params: SimulatedPath,
  returns: ok(SimulatedPurchaseObject),
  errors: [...OF_GAMES, 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params }) => toSimulatedPurchase(await refundSimulated(app, caller, nameOf(params))),
});

export const storeOperations = [
  syncApple,
  syncEpicgames,
  syncGoogle,
  syncMeta,
  syncPs,
  syncPsn,
  syncSteam,
  syncXboxlive,
  getUserEntitlements,
  getGameStores,
  editGameStore,
  deleteGameStore,
  notifyGoogle,
  notifyApple,
  addSimulatedPurchase,
  paySimulatedPurchase,
  refundSimulatedPurchase,
];
