import { z } from 'zod';
import { anyone, user } from '../../platform/access/caller.ts';
import { Id, Integer, PathId, page, pageOf, pagesOnly, Timestamp } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { TokenPackPath } from '../packs/object.ts';
import {
  listPayments,
  orderPack,
  type PaymentRow,
  receiveNotification,
  refundPayment,
  requirePayment,
} from './payments.ts';

const PaymentObject = z
  .object({
    id: Id,
    game_id: Id,
    token_pack_id: Id,
    status: z.enum(['pending', 'paid', 'failed', 'refunded', 'disputed']),
    tokens: Integer,
    price: Integer.meta({ description: 'What the buyer pays, taxes included, in the smallest unit of the currency.' }),
    tax: Integer.meta({ description: 'How much of the price is tax.' }),
    currency: z.string(),
    provider: z.string(),
    checkout_url: z.string().meta({ description: 'Where the buyer pays.' }),
    date_added: Timestamp,
    date_paid: Timestamp,
    date_ended: Timestamp.meta({ description: 'When it failed, was refunded or disputed; otherwise 0.' }),
  })
  .meta({ id: 'Payment' });

const toPayment = (row: PaymentRow): z.output<typeof PaymentObject> => ({
  id: row.id,
  game_id: row.game_id,
  token_pack_id: row.pack_id,
  status: row.status,
  tokens: row.tokens,
  price: row.price,
  tax: row.tax,
  currency: row.currency,
  provider: row.provider,
  checkout_url: row.url,
  date_added: row.date_added,
  date_paid: row.date_paid,
  date_ended: row.date_ended,
});

const PaymentPath = z.object({ payment_id: PathId });

export const buyTokenPack = operation({
  id: 'buy-token-pack',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/monetization/token-packs/{token_pack_id}/checkout',
  says: 'Begins the payment for a token pack. The buyer completes it at `checkout_url`; then the tokens are in their wallet. The same `idempotent_key` returns the same payment for 24 hours.',
  access: user('write', 'money'),
  params: TokenPackPath,
  body: z.object({ idempotent_key: z.string().trim().min(1).max(100) }),
  returns: ok(PaymentObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'RESOURCE_NOT_FOUND',
    'MONETIZATION_SITE_MONETIZATION_DISABLED',
    'MONETIZATION_GAME_MONETIZATION_DISABLED',
    'MONETIZATION_USER_MONETIZATION_DISABLED',
    'MONETIZATION_IAP_NOT_CONFIGURED',
    'MONETIZATION_REQUEST_ERROR',
    'MONETIZATION_PAYMENT_FAILED',
    'MONETIZATION_WALLET_ERROR',
  ],
  handle: async (app, { caller, params, body }) => {
    const order = { gameId: params.game_id, packId: params.token_pack_id, key: body.idempotent_key };
    return toPayment(await orderPack(app, caller, order));
  },
});

export const getUserPayments = operation({
  id: 'get-user-payments',
  tag: 'Me',
  method: 'GET',
  path: '/me/payments',
  says: 'Lists the payments of the person for token packs, the newest first.',
  access: user('read', 'money'),
  list: pagesOnly,
  returns: ok(pageOf(PaymentObject)),
  errors: [],
  handle: async (app, { caller, list }) => {
    const { rows, total } = await listPayments(app, caller, list);
    return page(rows.map(toPayment), total, list);
  },
});

export const getUserPayment = operation({
  id: 'get-user-payment',
  tag: 'Me',
  method: 'GET',
  path: '/me/payments/{payment_id}',
  says: 'Shows a payment of the person.',
  access: user('read', 'money'),
  params: PaymentPath,
  returns: ok(PaymentObject),
  errors: ['RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params }) => toPayment(await requirePayment(app, caller, params.payment_id)),
});

export const refundUserPayment = operation({
  id: 'refund-payment',
  tag: 'Me',
  method: 'POST',
  path: '/me/payments/{payment_id}/refund',
  says: 'Returns a token pack of which nothing was spent, as long and as often as the terms of its day allow.',
  access: user('write', 'money'),
  params: PaymentPath,
  returns: ok(PaymentObject),
  errors: ['RESOURCE_NOT_FOUND', 'MONETIZATION_UNEXPECTED_OPERATION', 'MONETIZATION_INSUFFICIENT_FUNDS'],
  handle: async (app, { caller, params }) => toPayment(await refundPayment(app, caller, params.payment_id)),
});

const NOTIFICATION_BYTES_MAX = 1_048_576;

export const notifyStripe = operation({
  id: 'receive-stripe-notification',
  tag: 'Monetization',
  method: 'POST',
  path: '/notifications/stripe',
  says: 'Receives events of Stripe, signed with the secret of the webhook endpoint: finished Checkout Sessions, disputes and refunds.',
  access: anyone(),
  unlocked: 'locks the payment that it settles',
  headers: { 'stripe-signature': { says: 'The signature of Stripe.' } },
  raw: { bytesMax: NOTIFICATION_BYTES_MAX, says: 'The event, as Stripe has signed it.' },
  returns: noContent,
  errors: ['USER_CALLBACK_TOKEN_INVALID', 'USER_CALLBACK_TOKEN_FAILED_JWT_SIGNATURE'],
  handle: async (app, { headers, raw }) => {
    const payload = Buffer.concat(await Array.fromAsync(raw.chunks)).toString('utf8');
    await receiveNotification(app, payload, headers['stripe-signature'] ?? '');
  },
});

export const paymentOperations = [notifyStripe, buyTokenPack, getUserPayments, getUserPayment, refundUserPayment];
