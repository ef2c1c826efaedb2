import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aPack, aSellingGame, walletOf } from '../../../test/money.ts';
import { startStripe } from '../../../test/stripe.ts';
import { composeWorker } from '../../composition/compose.ts';
import { stripe as gateway } from '../gateways/stripe.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { buyTokenPack, getUserPayment, notifyStripe, refundUserPayment } from './operations.ts';

const stripe = await startStripe();
const api = await startApi({ settings: { ...stripe.settings, MODSTEAD_JOBS: 'off' } });
const app = api.app();
const worker = composeWorker(app);
const game = await aSellingGame(api);
const pack = await aPack(api, game);

async function anOrder(key = api.unique('key')) {
  const player = await api.aUser();
  const buyer = await api.as(player);
  const order = () =>
    buyer.call(buyTokenPack, {
      params: { game_id: game.id, token_pack_id: pack.id },
      body: { idempotent_key: key },
    });
  const wallet = async () => walletOf(await api.as(player), game);
  return { player, buyer, order, wallet };
}

async function begun() {
  const made = await anOrder();
  const payment = (await made.order()).body;
  return { ...made, payment, session: stripe.sessionOf(payment.checkout_url) };
}

type Event = ReturnType<typeof stripe.event>;
const event = (type: string, object: object, options: { at?: number; secret?: string } = {}) =>
  stripe.event(type, object, { at: app.clock.now(), ...options });
const send = ({ payload, signature }: Event) =>
  api.request('POST', '/v1/notifications/stripe', {
    headers: { 'content-type': 'application/json', 'stripe-signature': signature },
    body: payload,
  });
async function tell(told: Event) {
  const answer = await send(told);
  assert.equal(answer.status, 204, answer.text);
}
const books = async () => assert.deepEqual((await verifyLedger(app)).problems, []);

test('a buyer pays on Stripe’s page and has the tokens once, however often Stripe tells', async () => {
  const { payment, session, wallet } = await begun();
  assert.match(payment.checkout_url, /^https:\/\/checkout\.stripe\.com\//);
  const completed = event('checkout.session.completed', session);
  await tell(completed);
  assert.equal((await wallet()).balance, 0, 'an event alone proves no payment');
  stripe.pay(session);
  await Promise.all([tell(completed), tell(completed), tell(event('checkout.session.completed', session))]);
  assert.equal((await wallet()).balance, pack.tokens);
  await books();
});

test('without an event, a job asks Stripe', async () => {
  const { session, wallet } = await begun();
  stripe.pay(session);
  api.clock.advance(61);
  await worker.runDue();
  assert.equal((await wallet()).balance, pack.tokens);
  const { session: left, buyer, payment } = await begun();
  left.status = 'expired';
  await tell(event('checkout.session.expired', left));
  const shown = await buyer.call(getUserPayment, { params: { payment_id: payment.id } });
  assert.equal(shown.body.status, 'failed');
});

test('an answer that is lost, or an error of Stripe, leaves no second session', async () => {
  for (const fault of ['lose the answer', 'fail after it'] as const) {
    const { order } = await anOrder();
    const before = stripe.sessions.size;
    stripe.fault = fault;
    // The library itself repeats a request whose connection broke, with the same key.
    assert.equal((await order()).status, fault === 'fail after it' ? 402 : 200);
    const payment = (await order()).body;
    assert.ok(stripe.sessionOf(payment.checkout_url));
    assert.equal(stripe.sessions.size - before, 1, fault);
  }
});

test('a dispute takes the tokens back once, also when it arrives before the payment is known', async () => {
  const { session, wallet, buyer, payment } = await begun();
  stripe.pay(session);
  const dispute = event('charge.dispute.created', {
    id: 'dp_1',
    object: 'dispute',
    payment_intent: session.payment_intent,
  });
  await tell(dispute);
  await tell(dispute);
  await tell(event('checkout.session.completed', session));
  assert.deepEqual(await wallet(), { balance: 0, deficit: 0, pending: 0 });
  const shown = await buyer.call(getUserPayment, { params: { payment_id: payment.id } });
  assert.equal(shown.body.status, 'disputed');
  await books();
});

test('a refund here is a refund there, once; a refund there is one here', async () => {
  const { session, wallet, buyer, payment } = await begun();
  stripe.pay(session);
  await tell(event('checkout.session.completed', session));
  const before = stripe.refunds;
  await buyer.call(refundUserPayment, { params: { payment_id: payment.id } });
  stripe.fault = 'lose the answer';
  await worker.runDue();
  api.clock.advance(10);
  await worker.runDue();
  await gateway.refund(app, session.client_reference_id);
  assert.equal(stripe.refunds - before, 1);
  const charge = { id: 'ch_1', object: 'charge', payment_intent: session.payment_intent, refunded: true };
  await tell(event('charge.refunded', charge));
  assert.deepEqual(await wallet(), { balance: 0, deficit: 0, pending: 0 });
  const other = await begun();
  stripe.pay(other.session);
  await tell(event('checkout.session.completed', other.session));
  const partly = { ...charge, payment_intent: other.session.payment_intent, refunded: false };
  await tell(event('charge.refunded', partly));
  assert.equal((await other.wallet()).balance, pack.tokens);
  await tell(event('charge.refunded', { ...partly, refunded: true }));
  assert.equal((await other.wallet()).balance, 0);
  await books();
});

test('a stored method is charged once per reference, or declined', async () => {
  const order = { amount: 199, currency: 'USD', description: 'Pack' };
  const charge = async (reference: string, method: string) => {
    await gateway.charge(app, { ...order, reference }, method);
    return gateway.stateOf(app, reference);
  };
  const before = stripe.intents.size;
  assert.deepEqual([await charge('one', 'pm_card_visa'), await charge('one', 'pm_card_visa')], ['paid', 'paid']);
  assert.equal(stripe.intents.size - before, 1);
  assert.equal(await charge('two', 'pm_card_declined'), 'failed');
  assert.equal(await gateway.stateOf(app, 'unknown'), 'pending');
});

test('events without a good and recent signature are refused', async () => {
  const { session } = await begun();
  stripe.pay(session);
  const forged = [
    event('checkout.session.completed', session, { secret: 'whsec_of_somebody' }),
    event('checkout.session.completed', session, { at: app.clock.now() - 301 }),
    { ...event('checkout.session.completed', session), signature: '' },
    { ...event('checkout.session.completed', session), payload: '{}' },
  ];
  for (const each of forged) assert.equal((await send(each)).status, 401);
  await tell(event('customer.created', { id: 'cus_1', object: 'customer' }));
  await api.nobody().refused(notifyStripe, { raw: Buffer.from('x') }, 401, 17_046);
});
