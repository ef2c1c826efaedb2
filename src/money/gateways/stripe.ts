import type Stripe from 'stripe';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { PaymentGateway, PaymentOrder, PaymentState } from './gateway.ts';
import * as store from './store.ts';

const TIMEOUT_MS = 20_000;
/** How old a signed notification may be. */
const TOLERANCE_SECONDS = 300;
const SECOND_MS = 1_000;
const DECLINED = 'declined';

const clients = new WeakMap<App, Promise<Stripe>>();

/** The library is loaded with the first request, so that it costs nothing where Stripe is not used. */
export function stripeClient(app: App): Promise<Stripe> {
  const known = clients.get(app);
  if (known) return known;
  const { stripeKey, stripeAddress } = app.settings;
  if (!stripeKey) throw new ApiError('MONETIZATION_IAP_NOT_CONFIGURED');
  const { protocol, hostname, port } = new URL(stripeAddress);
  const made = import('stripe').then(
    ({ default: Client }) =>
      new Client(stripeKey, {
        protocol: protocol === 'http:' ? 'http' : 'https',
        host: hostname,
        port: port || (protocol === 'http:' ? 80 : 443),
        timeout: TIMEOUT_MS,
        // Repetitions are ours: each request has a key of its own, and a job asks again.
        maxNetworkRetries: 0,
        telemetry: false,
      }),
  );
  clients.set(app, made);
  return made;
}

/** Stripe: the buyer pays on a page of Stripe's (Checkout Session), or with a method that Stripe has stored for them. */
export const stripe: PaymentGateway = {
  name: 'stripe',
  open: async (app, order) => {
    const { id, url } = await asking(() => openSession(app, order));
    await remember(app, order.reference, id);
    return url ?? '';
  },
  charge: async (app, order, methodId) => {
    const object = await asking(() => chargeMethod(app, order, methodId));
    await remember(app, order.reference, object);
  },
  stateOf: async (app, reference) => {
    const object = await store.stripeObjectOf(app.db, reference);
    if (object === undefined) return 'pending';
    if (object === DECLINED) return 'failed';
    const client = await stripeClient(app);
    return object.startsWith('pi_')
      ? (INTENT_STATES[(await client.paymentIntents.retrieve(object)).status] ?? 'pending')
      : sessionState(await client.checkout.sessions.retrieve(object));
  },
  refund: async (app, reference) => {
    const intent = await intentOf(app, reference);
    const client = await stripeClient(app);
    try {
      await client.refunds.create({ payment_intent: intent }, { idempotencyKey: `refund ${reference}` });
    } catch (error) {
      // The money is back already, such as after a dispute.
      if ((error as Stripe.errors.StripeError).code !== 'charge_already_refunded') throw error;
    }
  },
};

const remember = (app: App, reference: string, object: string): Promise<void> =>
  app.db.write(async (transaction) => {
    await store.addStripeObject(transaction, reference, object, app.clock.now());
  });

async function openSession(app: App, { reference, amount, currency, description }: PaymentOrder) {
  const client = await stripeClient(app);
  const { site } = app.addresses;
  return client.checkout.sessions.create(
    {
      mode: 'payment',
      client_reference_id: reference,
      line_items: [
        {
          quantity: 1,
          price_data: { currency: currency.toLowerCase(), unit_amount: amount, product_data: { name: description } },
        },
      ],
      payment_intent_data: { metadata: { reference } },
      // Lists the payment with its state, which the provider may still be deciding.
      success_url: `${site}/account/purchases`,
      cancel_url: `${site}/account/purchases`,
    },
    { idempotencyKey: reference },
  );
}

async function chargeMethod(app: App, { reference, amount, currency, description }: PaymentOrder, methodId: string) {
  const client = await stripeClient(app);
  try {
    const intent = await client.paymentIntents.create(
      {
        amount,
        currency: currency.toLowerCase(),
        description,
        payment_method: methodId,
        confirm: true,
        automatic_payment_methods: { enabled: true, allow_redirects: 'never' },
        metadata: { reference },
      },
      { idempotencyKey: reference },
    );
    return intent.id;
  } catch (error) {
    const { type } = error as Stripe.errors.StripeError;
    if (type !== 'StripeCardError' && type !== 'StripeInvalidRequestError') throw error;
    return DECLINED;
  }
}

/** No answer of the provider is a payment that cannot begin now. */
async function asking<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ApiError) throw cause;
    throw new ApiError('MONETIZATION_PAYMENT_FAILED', { cause });
  }
}

const INTENT_STATES: Readonly<Record<string, PaymentState>> = {
  succeeded: 'paid',
  canceled: 'failed',
  requires_payment_method: 'failed',
  processing: 'pending',
  requires_action: 'pending',
  requires_capture: 'pending',
  requires_confirmation: 'pending',
};

function sessionState({ payment_status, status }: Stripe.Checkout.Session): PaymentState {
  if (payment_status === 'paid') return 'paid';
  return status === 'expired' ? 'failed' : 'pending';
}

const idOf = (object: string | { readonly id: string } | null): string =>
  typeof object === 'string' ? object : (object?.id ?? '');

async function intentOf(app: App, reference: string): Promise<string> {
  const object = (await store.stripeObjectOf(app.db, reference)) ?? '';
  if (object.startsWith('pi_')) return object;
  const client = await stripeClient(app);
  return idOf((await client.checkout.sessions.retrieve(object)).payment_intent);
}

export interface StripeNotification {
  readonly reference: string;
  /** The bank, or somebody on Stripe's dashboard, has given the money back. */
  readonly isReversal: boolean;
}

/** What an event of Stripe is about; undefined for events that change nothing here. */
export async function readStripeNotification(
  app: App,
  payload: string,
  signature: string,
): Promise<StripeNotification | undefined> {
  const { object, type } = await verifiedEvent(app, payload, signature);
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed':
    case 'checkout.session.expired':
      return { reference: String((object as Stripe.Checkout.Session).client_reference_id ?? ''), isReversal: false };
    case 'charge.dispute.created':
      return reversalOf(app, (object as Stripe.Dispute).payment_intent);
    case 'charge.refunded': {
      const { refunded, payment_intent } = object as Stripe.Charge;
      return refunded ? reversalOf(app, payment_intent) : undefined;
    }
    default:
      return undefined;
  }
}

async function verifiedEvent(app: App, payload: string, signature: string) {
  const { stripeWebhookSecret } = app.settings;
  if (!stripeWebhookSecret) throw new ApiError('USER_CALLBACK_TOKEN_INVALID');
  const client = await stripeClient(app);
  const now = app.clock.now() * SECOND_MS;
  try {
    const { webhooks } = client;
    const event = await webhooks.constructEventAsync(
      payload,
      signature,
      stripeWebhookSecret,
      TOLERANCE_SECONDS,
      undefined,
      now,
    );
    return { type: event.type, object: event.data.object };
  } catch (cause) {
    throw new ApiError('USER_CALLBACK_TOKEN_FAILED_JWT_SIGNATURE', { cause });
  }
}

/** Events about charges do not name our reference, but the payment does. */
async function reversalOf(app: App, intent: string | { readonly id: string } | null): Promise<StripeNotification> {
  const client = await stripeClient(app);
  const { metadata } = await client.paymentIntents.retrieve(idOf(intent));
  return { reference: metadata['reference'] ?? '', isReversal: true };
}
