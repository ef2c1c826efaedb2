import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { StripeConnect } from './stripe-connect.ts';

interface Session {
  readonly id: string;
  readonly client_reference_id: string;
  readonly amount_total: number;
  status: 'open' | 'complete' | 'expired';
  payment_status: 'paid' | 'unpaid';
  payment_intent: string | null;
}

interface Intent {
  readonly id: string;
  status: string;
  readonly reference: string;
  readonly amount: number;
  refunds: number;
}

interface BalanceTransaction {
  readonly id: string;
  readonly object: 'balance_transaction';
  readonly type: string;
  readonly amount: number;
  readonly currency: string;
  readonly fee: number;
  readonly created: number;
  readonly source: object | null;
}

const SECRET = 'whsec_of_the_tests';
const KEY = 'sk_test_of_the_tests';

/** Stripe's REST interface as far as the service uses it, with its idempotency keys and signed events. */
export class StripeStandIn {
  settings: Record<string, string> = {};
  readonly sessions = new Map<string, Session>();
  readonly intents = new Map<string, Intent>();
  /** The next request that changes something is done, but its answer is lost or an error. */
  fault: 'none' | 'lose the answer' | 'fail after it' = 'none';
  /** Accounts, transfers and payouts of sellers. */
  readonly connect = new StripeConnect((type, amount, source) => this.#moved(type, amount, source));
  /** What moved in the account, the newest first, as Stripe lists it. */
  readonly balance: BalanceTransaction[] = [];
  now: () => number = () => 0;
  readonly #answers = new Map<string, { status: number; body: object }>();
  #count = 0;

  get refunds(): number {
    return [...this.intents.values()].reduce((sum, { refunds }) => sum + refunds, 0);
  }

  /** Stripe remembers idempotency keys for a day. */
  forget(): void {
    this.#answers.clear();
  }

  sessionOf(url: string): Session {
    return this.sessions.get(new URL(url).pathname.slice(1))!;
  }

  /** The buyer pays on the page of the session. */
  pay(session: Session): void {
    const intent = this.#addIntent(session.client_reference_id, 'succeeded', session.amount_total);
    Object.assign(session, { status: 'complete', payment_status: 'paid', payment_intent: intent.id });
  }

  #addIntent(reference: string, status: string, amount: number): Intent {
    this.#count += 1;
    const intent = { id: `pi_${this.#count}`, status, reference, amount, refunds: 0 };
    this.intents.set(intent.id, intent);
    const charge = { object: 'charge', amount, currency: 'usd', payment_intent: intent.id, metadata: { reference } };
    this.#moved('charge', amount, { ...charge, id: `ch_${this.#count}` }, 30);
    return intent;
  }

  #moved(type: string, amount: number, source: object | null, fee = 0): void {
    const id = `txn_${this.balance.length + 1}`;
    const row = { id, type, amount, fee, source, currency: 'usd', created: this.now() };
    this.balance.unshift({ ...row, object: 'balance_transaction' });
  }

  /** The buyer's bank takes the money back. */
  dispute(intent: Intent): void {
    const { id: payment_intent, amount } = intent;
    this.#moved('adjustment', -amount, { object: 'dispute', id: 'dp_1', amount, currency: 'usd', payment_intent });
  }

  /** Stripe pays the studio. */
  payStudio(amount: number): void {
    this.#moved('payout', -amount, { object: 'payout', id: 'po_studio', amount, currency: 'usd' });
  }

  /** An event and its signature, as Stripe sends them. */
  event(type: string, object: object, { at = 0, secret = SECRET } = {}): { payload: string; signature: string } {
    this.#count += 1;
    const payload = JSON.stringify({ id: `evt_${this.#count}`, object: 'event', type, data: { object } });
    const digest = createHmac('sha256', secret).update(`${at}.${payload}`).digest('hex');
    return { payload, signature: `t=${at},v1=${digest}` };
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const fault = request.method === 'POST' ? this.fault : 'none';
    if (request.method === 'POST') this.fault = 'none';
    const form = new URLSearchParams(Buffer.concat(chunks).toString());
    const key = `${request.url} ${request.headers['idempotency-key'] ?? ''}`;
    const isRepeated = request.method === 'POST' && this.#answers.has(key);
    const answer = isRepeated ? this.#answers.get(key)! : this.#respond(request, form);
    this.#answers.set(key, answer);
    if (fault === 'lose the answer') return void response.socket?.destroy();
    if (fault === 'fail after it') return void response.writeHead(500).end('{"error":{"type":"api_error"}}');
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
  }

  #respond({ method, url = '', headers }: IncomingMessage, form: URLSearchParams): { status: number; body: object } {
    const refusal = (status: number, error: object) => ({ status, body: { error } });
    if (headers.authorization !== `Bearer ${KEY}`) return refusal(401, { type: 'invalid_request_error' });
    if (url.startsWith('/v1/balance_transactions'))
      return this.#listBalance(new URL(url, 'http://stripe').searchParams);
    const connected = this.connect.respond({ method: method!, url, account: String(headers['stripe-account']) }, form);
    if (connected) return connected;
    const [, , resource, id] = url.replace('/checkout', '').split('/');
    if (method === 'POST' && resource === 'sessions') return { status: 200, body: this.#addSession(form) };
    if (method === 'GET' && resource === 'sessions') return { status: 200, body: this.sessions.get(id!)! };
    if (method === 'POST' && resource === 'payment_intents') return this.#charge(form);
    const intent = this.intents.get(id ?? form.get('payment_intent') ?? '');
    if (!intent) return refusal(404, { type: 'invalid_request_error', code: 'resource_missing' });
    const shown = {
      id: intent.id,
      object: 'payment_intent',
      status: intent.status,
      metadata: { reference: intent.reference },
    };
    if (method === 'GET') return { status: 200, body: shown };
    if (intent.refunds > 0) return refusal(400, { type: 'invalid_request_error', code: 'charge_already_refunded' });
    intent.refunds += 1;
    const { id: payment_intent, amount } = intent;
    const refund = { id: `re_${payment_intent}`, object: 'refund', status: 'succeeded', amount, currency: 'usd' };
    this.#moved('refund', -amount, { ...refund, payment_intent });
    return { status: 200, body: refund };
  }

  /** Pages of two, so that a client has to ask for the next one. */
  #listBalance(query: URLSearchParams): { status: number; body: object } {
    const [from, until] = [Number(query.get('created[gte]')), Number(query.get('created[lt]'))];
    const all = this.balance.filter(({ created }) => created >= from && created < until);
    const begin = 1 + all.findIndex(({ id }) => id === query.get('starting_after'));
    const isExpanded = query.get('expand[0]') === 'data.source';
    const data = all.slice(begin, begin + 2).map((each) => ({
      ...each,
      source: isExpanded ? each.source : ((each.source as { id?: string } | null)?.id ?? null),
    }));
    const has_more = begin + 2 < all.length;
    return { status: 200, body: { object: 'list', url: '/v1/balance_transactions', data, has_more } };
  }

  #addSession(form: URLSearchParams): object {
    this.#count += 1;
    const session: Session = {
      id: `cs_${this.#count}`,
      client_reference_id: form.get('client_reference_id')!,
      amount_total: Number(form.get('line_items[0][price_data][unit_amount]')),
      status: 'open',
      payment_status: 'unpaid',
      payment_intent: null,
    };
    this.sessions.set(session.id, session);
    return {
      ...session,
      object: 'checkout.session',
      url: `https://checkout.stripe.com/${session.id}`,
    };
  }

  #charge(form: URLSearchParams): { status: number; body: object } {
    if (form.get('payment_method') !== 'pm_card_visa')
      return { status: 402, body: { error: { type: 'card_error', code: 'card_declined' } } };
    const { id, status } = this.#addIntent(form.get('metadata[reference]')!, 'succeeded', Number(form.get('amount')));
    return { status: 200, body: { id, object: 'payment_intent', status } };
  }
}

export async function startStripe(): Promise<StripeStandIn> {
  const standIn = new StripeStandIn();
  const server = createServer((request, response) => void standIn.answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  standIn.settings = {
    MODSTEAD_PAYMENTS: 'stripe',
    MODSTEAD_STRIPE_KEY: KEY,
    MODSTEAD_STRIPE_WEBHOOK_SECRET: SECRET,
    MODSTEAD_STRIPE_ADDRESS: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
  };
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return standIn;
}
