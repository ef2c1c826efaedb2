import { z } from 'zod';
import { requireGameRow } from '../../catalogue/games/games.ts';
import { PlatformStatusQuery } from '../../catalogue/live-files/object.ts';
import { listModsOfBuyer, modListing, requireModDocument } from '../../catalogue/mods/mods.ts';
import { ModObject, modJson } from '../../catalogue/mods/object.ts';
import { platformsNamed } from '../../moderation/reports/platforms.ts';
import { requireUser } from '../../people/users/users.ts';
import { type UserCaller, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import {
  GamePath,
  Id,
  ModPath,
  PathId,
  page,
  pageOf,
  pageOfJson,
  pagesOnly,
  UserPath,
} from '../../platform/http/objects.ts';
import { Json, ok, operation } from '../../platform/http/operation.ts';
import { PLATFORMS, type Platform } from '../../platform/vocabulary/game-platforms.ts';
import { EPIC_REFUSALS } from '../stores/object.ts';
import { Epic, PlayStation, proofOf, Receipt, storeOf, Xbox } from '../stores/proof.ts';
import { paymentMethodOf, tokensOwned } from '../wallets/wallets.ts';
import { listGamePurchases } from './game-purchases.ts';
import {
  GamePurchaseObject,
  PayObject,
  paidJson,
  pendingJson,
  RefundObject,
  toGamePurchase,
  toRefund,
} from './object.ts';
import { payForMod } from './orders.ts';
import { buyMod, WITH_TOKENS } from './purchases.ts';
import { type Refunded, refundAsStudio, returnMod } from './refunds.ts';
import { BUYING_REFUSALS, type PaidResponse } from './selling.ts';
import { buyAtStore, PAY_AT_STORE } from './store-orders.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

export const purchase = operation({
  id: 'purchase',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/checkout',
  says: 'Buys a mod, with the tokens of the wallet or with money. A request with the same `idempotent_key` gets the same response for 24 hours, and buys nothing again, unless the purchase was refunded.',
  access: user('write', 'money'),
  params: ModPath,
  body: z.object({
    idempotent_key: z.string().trim().min(1).max(100),
    type: z.int().min(0).max(4).default(0).meta({
      description:
        '0: with tokens. 1: with an unused purchase of the mod’s SKU at the store of the portal header. 2: with money, at once. 3: with money, later; 4 completes it. Money buys the token pack that covers the price.',
    }),
    display_amount: z.int().min(0).optional().meta({
      description:
        'The price that the buyer saw, in tokens, or with money in the smallest unit of the currency and with taxes; another one is refused.',
    }),
    subscribe: z.boolean().default(true).meta({ description: 'Whether the buyer subscribes to the mod as well.' }),
    payment_method_id: z
      .string()
      .trim()
      .min(1)
      .max(200)
      .optional()
      .meta({ description: 'For type 2: the method at the payment provider.' }),
    terms_accepted: z.boolean().default(false).meta({ description: 'Needed to pay with money.' }),
    refund_accepted: z.boolean().default(false).meta({ description: 'Needed to pay with money.' }),
    transaction_id: Id.optional().meta({ description: 'For type 4: the `transaction_id` of the intent.' }),
    ...PlayStation,
    ...Xbox,
    ...Epic,
    ...Receipt,
  }),
  returns: ok(PayObject),
  errors: [
    ...NOT_FOUND,
    ...BUYING_REFUSALS,
    'MONETIZATION_SITE_MARKETPLACE_DISABLED',
    'MONETIZATION_UNEXPECTED_OPERATION',
    'MONETIZATION_PRICE_MISMATCH',
    'MONETIZATION_TERMS_NOT_ACCEPTED',
    'MONETIZATION_IAP_NOT_CONFIGURED',
    'MONETIZATION_SKU_MISSING',
    'MONETIZATION_PAYMENT_FAILED',
    'MONETIZATION_WALLET_ERROR',
    'MONETIZATION_AUTH_ERROR',
    'MONETIZATION_ACCOUNT_ERROR',
    'MONETIZATION_PORTAL_INVALID',
    'MONETIZATION_PORTAL_CONSUME_FAILED',
    'MONETIZATION_FINALIZE_FAILED',
    'USER_CONNECTION_MEMBER_NOT_FOUND',
    ...EPIC_REFUSALS,
  ],
  handle: async (app, { caller, params, body, language, platform, portal }) => {
    const { game_id: gameId, mod_id: modId } = params;
    const checkout = {
      gameId,
      modId,
      type: body.type,
      key: body.idempotent_key,
      displayAmount: body.display_amount,
      subscribe: body.subscribe,
    };
    const show: PaidResponse['show'] = async (transaction) => {
      const document = await requireModDocument(transaction, caller, gameId, modId, language, platform);
      return modJson(app, document, { alone: true, portal });
    };
    const paymentMethod = paymentMethodOf(app, caller.userId, gameId);
    const paid: PaidResponse = {
      show,
      paid: ({ purchase, ...wallet }, names, mod) => paidJson(purchase, names, { ...wallet, paymentMethod }, mod),
    };
    if (body.type === WITH_TOKENS) return new Json(await buyMod(app, caller, checkout, paid));
    if (body.type === PAY_AT_STORE) {
      const atStore = { ...checkout, portal: storeOf(portal, platform), proof: proofOf(body) };
      return new Json(await buyAtStore(app, caller, atStore, paid));
    }
    const withMoney = {
      ...checkout,
      methodId: body.payment_method_id,
      paymentId: body.transaction_id,
      accepted: body.terms_accepted && body.refund_accepted,
    };
    const buyer = await requireUser(app, caller.userId);
    const response = await payForMod(app, caller, withMoney, {
      paid,
      pending: async (transaction, payment, mod, game) => {
        const wallet = { ...(await tokensOwned(transaction, gameId, caller.userId)), paymentMethod };
        return pendingJson(payment, { mod, game, buyer }, modId, wallet, await show(transaction));
      },
    });
    return new Json(response);
  },
});

async function refundOf(app: App, caller: UserCaller, { purchase, mod }: Refunded) {
  const game = await requireGameRow(app, caller, purchase.game_id);
  const buyer = await requireUser(app, purchase.user_id);
  return toRefund(purchase, { mod, game, buyer });
}

export const refundPurchase = operation({
  id: 'refund-purchase',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/refund',
  says: 'Returns a mod that the person has bought, as long and as often as the terms of that day allow. The tokens return to the wallet, and the subscription ends.',
  access: user('write', 'money'),
  params: ModPath,
  returns: ok(RefundObject),
  errors: [...NOT_FOUND, 'MONETIZATION_MARKETPLACE_NOT_OWNED', 'MONETIZATION_UNEXPECTED_OPERATION'],
  handle: async (app, { caller, params }) =>
    refundOf(app, caller, await returnMod(app, caller, params.game_id, params.mod_id)),
});

export const getGamePurchases = operation({
  id: 'get-game-purchases',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/purchases',
  says: 'Lists the mods that were bought in a game, the newest first. For its administrators.',
  access: user('read', 'team'),
  params: GamePath,
  query: z.object({ user_id: Id.optional(), mod_id: Id.optional(), status: z.enum(['paid', 'refunded']).optional() }),
  list: pagesOnly,
  returns: ok(pageOf(GamePurchaseObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, query, list }) => {
    const { rows, total } = await listGamePurchases(app, caller, { ...params, ...query }, list);
    return page(rows.map(toGamePurchase), total, list);
  },
});

export const refundGamePurchase = operation({
  id: 'refund-game-purchase',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/purchases/{purchase_id}/refund',
  says: 'Refunds the purchase of a mod. For administrators of the game.',
  access: user('write', 'team'),
  params: GamePath.extend({ purchase_id: PathId }),
  body: z.object({ reason: z.string().trim().min(1).max(500) }),
  returns: ok(RefundObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'GAME_NO_UPDATE_PERMISSION',
    'RESOURCE_NOT_FOUND',
    'MONETIZATION_UNEXPECTED_OPERATION',
  ],
  handle: async (app, { caller, params, body }) =>
    refundOf(app, caller, await refundAsStudio(app, caller, params.game_id, params.purchase_id, body.reason)),
});

const PurchasesQuery = PlatformStatusQuery.extend({
  platforms: z
    .string()
    .trim()
    .refine((text) => platformsNamed(text, [])?.length === 1, { params: { rule: 'invalid' } })
    .optional()
    .meta({ description: 'A platform such as WINDOWS, in place of that of the header; ALL for none.' }),
});

/** The platform that the query names, or that of the header. */
function platformIn(
  { platforms, platform_status: platformStatus }: z.output<typeof PurchasesQuery>,
  ofHeader: Platform | undefined,
) {
  const [named] = platforms === undefined ? [ofHeader] : platformsNamed(platforms, [])!;
  return { platform: PLATFORMS.find((platform) => platform === named), platformStatus };
}

const list = {
  query: PurchasesQuery,
  list: modListing,
  returns: ok(pageOf(ModObject)),
} as const;

export const getUserPurchases = operation({
  id: 'get-user-purchases',
  tag: 'Me',
  method: 'GET',
  path: '/me/purchased',
  says: 'Lists the mods that the person has bought, also those that are hidden or not accepted. With `game_id` and a platform, in the query or in the header, those that are live on it.',
  access: user('read'),
  ...list,
  errors: [],
  handle: async (app, { caller, query, list, language, platform, portal }) => {
    const on = platformIn(query, platform);
    const { mods, total } = await listModsOfBuyer(app, caller, list, language, on);
    return pageOfJson(
      mods.map((mod) => modJson(app, mod, { portal })),
      total,
      list,
    );
  },
});

export const getPurchasesOfUser = operation({
  id: 'get-user-purchases-of',
  tag: 'Users',
  method: 'GET',
  path: '/users/{user_id}/purchases',
  says: 'Lists the mods that a person has bought, as `/me/purchased` does. What others have bought is private.',
  access: user('read', 'money'),
  params: UserPath,
  ...list,
  errors: ['USER_ACCOUNT_PRIVATE'],
  handle: async (app, { caller, params, query, list, language, platform, portal }) => {
    if (params.user_id !== caller.userId) throw new ApiError('USER_ACCOUNT_PRIVATE');
    const on = platformIn(query, platform);
    const { mods, total } = await listModsOfBuyer(app, caller, list, language, on);
    return pageOfJson(
      mods.map((mod) => modJson(app, mod, { portal })),
      total,
      list,
    );
  },
});

export const purchaseOperations = [
  purchase,
  refundPurchase,
  getGamePurchases,
  refundGamePurchase,
  getUserPurchases,
  getPurchasesOfUser,
];
