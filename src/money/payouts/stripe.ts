import type Stripe from 'stripe';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { stripeClient } from '../gateways/stripe.ts';
import { PayoutDelayed, type PayoutGateway, type PayoutOrder, PayoutRefused, type PayoutState } from './gateway.ts';

const HOUR = 3_600;

/**
 * Stripe Connect: a transfer to the seller's account at Stripe, and a payout from there to their bank. Stripe forgets
 * idempotency keys after a day, so each step looks for an earlier attempt first.
 */
export const stripe: PayoutGateway = {
  name: 'stripe',
  openAccount: async (app, { userId, country }) => {
    const client = await stripeClient(app);
    const { id } = await asking(() =>
      client.accounts.create(
        {
          type: 'express',
          country,
          capabilities: { transfers: { requested: true } },
          // We decide when money leaves the account, so that a payout here is one payout there.
          settings: { payouts: { schedule: { interval: 'manual' } } },
          metadata: { user_id: String(userId) },
        },
        { idempotencyKey: `account ${userId}` },
      ),
    );
    return id;
  },
  onboardingUrl: async (app, account) => {
    const client = await stripeClient(app);
    const { site } = app.addresses;
    const { url } = await asking(() =>
      client.accountLinks.create({ account, type: 'account_onboarding', refresh_url: site, return_url: site }),
    );
    return url;
  },
  isReady: async (app, account) => {
    const client = await stripeClient(app);
    const { payouts_enabled, details_submitted } = await asking(() => client.accounts.retrieve(account));
    return payouts_enabled && details_submitted;
  },
  send: async (app, order) => {
    const client = await stripeClient(app);
    try {
      const transfer = (await transferOf(client, order)) ?? (await createTransfer(client, order));
      if (transfer.reversed) throw new PayoutRefused('The transfer was reversed.');
      const payout = (await payoutOf(client, order)) ?? (await createPayout(client, order));
      return payout.id;
    } catch (error) {
      throw refusalOf(error);
    }
  },
  stateOf: async (app, { receipt, account }) => {
    const client = await stripeClient(app);
    return stateOfPayout(await client.payouts.retrieve(receipt, {}, { stripeAccount: account }));
  },
  recall: async (app, order) => {
    const client = await stripeClient(app);
    const transfer = await transferOf(client, order);
    if (!transfer || transfer.reversed) return;
    await client.transfers.createReversal(transfer.id, {}, { idempotencyKey: `reversal ${order.reference}` });
  },
};

function stateOfPayout({ status }: Stripe.Payout): PayoutState {
  if (status === 'paid') return 'paid';
  return status === 'failed' || status === 'canceled' ? 'failed' : 'sent';
}

async function transferOf(client: Stripe, { reference }: Pick<PayoutOrder, 'reference'>) {
  const { data } = await client.transfers.list({ transfer_group: reference, limit: 1 });
  return data[0];
}

const createTransfer = (client: Stripe, { reference, amount, currency, account, attempt }: PayoutOrder) =>
  client.transfers.create(
    {
      amount,
      currency: currency.toLowerCase(),
      destination: account,
      transfer_group: reference,
      metadata: { reference },
    },
    { idempotencyKey: `transfer ${reference} ${attempt}` },
  );

/** Payouts cannot be searched for by our reference, but an account has few of them. */
async function payoutOf(
  client: Stripe,
  { reference, account, date_added }: Pick<PayoutOrder, 'reference' | 'account' | 'date_added'>,
): Promise<Stripe.Payout | undefined> {
  const since = { created: { gte: date_added - HOUR }, limit: 100 };
  for await (const payout of client.payouts.list(since, { stripeAccount: account }))
    if (payout.metadata?.['reference'] === reference) return payout;
  return undefined;
}

const createPayout = (client: Stripe, { reference, amount, currency, account, attempt }: PayoutOrder) =>
  client.payouts.create(
    { amount, currency: currency.toLowerCase(), metadata: { reference } },
    { stripeAccount: account, idempotencyKey: `payout ${reference} ${attempt}` },
  );

/** Stripe repeats an error for the same key, so an attempt after an answer has another one. No answer changes nothing. */
function refusalOf(error: unknown): unknown {
  const { type, code, statusCode, message } = error as Stripe.errors.StripeError;
  if (error instanceof PayoutRefused || statusCode === undefined) return error;
  // Money that has not arrived at Stripe yet is no reason to give up.
  const isFinal = type === 'StripeInvalidRequestError' && code !== 'balance_insufficient';
  return new (isFinal ? PayoutRefused : PayoutDelayed)(message, { cause: error });
}

/** No answer of the provider is a payout that cannot begin now. */
async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new ApiError('MONETIZATION_PAYOUT_ERROR', { fields: [{ field: 'account', rule: 'invalid' }], cause });
  }
}
