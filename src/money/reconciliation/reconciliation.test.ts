import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aPack, aSeller, aSellingGame, giveEarnings } from '../../../test/money.ts';
import { startStripe } from '../../../test/stripe.ts';
import { buyTokenPack, refundUserPayment } from '../payments/operations.ts';
import { disputeReference, refundAtProvider, settleReference } from '../payments/payments.ts';
import { openPayoutAccount, requestPayoutOperation } from '../payouts/operations.ts';
import { settlePayouts } from '../payouts/settling.ts';
import { addSimulatedPurchase, refundSimulatedPurchase, syncSteam } from '../stores/operations.ts';
import { getGameReconciliation, getStaffReconciliation, reconcileGameSettlement } from './operations.ts';
import { columnsOf, settlementRecords } from './settlement.ts';

const stripe = await startStripe();
const common = { MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'off', MODSTEAD_STORES: 'simulated' };
const api = await startApi({ settings: { ...common, ...stripe.settings, MODSTEAD_PAYOUTS: 'stripe' } });
const app = api.app();
stripe.now = () => app.clock.now();
const game = await aSellingGame(api);
const pack = await aPack(api, game, { skus: ['steam=1001'] });

async function pay(of = game, sold = pack) {
  const buyer = await api.as(await api.aUser());
  const params = { game_id: of.id, token_pack_id: sold.id };
  const payment = (await buyer.call(buyTokenPack, { params, body: { idempotent_key: api.unique('key') } })).body;
  const session = stripe.sessionOf(payment.checkout_url);
  stripe.pay(session);
  return {
    buyer,
    payment,
    reference: session.client_reference_id,
    intent: stripe.intents.get(session.payment_intent!)!,
  };
}

const today = () => new Date(app.clock.now() * 1_000).toISOString().slice(0, 10);
const asked = async (client: Client, provider = 'stripe') =>
  (await client.call(getGameReconciliation, { params: { game_id: game.id }, query: { provider, from: today() } })).body;
const differences = ({ differences: all }: Awaited<ReturnType<typeof asked>>) =>
  all.map(({ difference, kind, reference }) => [difference, kind, reference]);

test('payments, refunds, disputes and payouts at Stripe match the books, and what does not is named', async () => {
  const studio = await api.as(game.owner);
  const other = await aSellingGame(api);
  const settle = ({ reference }: { reference: string }) => settleReference(app, 'stripe', reference);
  const [plain, returned, disputed] = [await pay(), await pay(), await pay()];
  const elsewhere = await pay(other, await aPack(api, other));
  for (const each of [plain, returned, disputed, elsewhere]) await settle(each);
  await returned.buyer.call(refundUserPayment, { params: { payment_id: returned.payment.id } });
  stripe.dispute(disputed.intent);
  await disputeReference(app, 'stripe', disputed.reference);
  const { user, client } = await aSeller(api);
  const { body } = await client.call(openPayoutAccount);
  const account = stripe.connect.accounts.get(body.onboarding_url.split('/').at(-1)!)!;
  Object.assign(account, { payouts_enabled: true, details_submitted: true });
  await giveEarnings(api, user, game.id, 5_000);
  await client.call(requestPayoutOperation, { params: { game_id: game.id }, body: { idempotent_key: 'all' } });
  await settlePayouts(app, async () => {});
  await refundAtProvider(app, { provider: 'stripe', reference: returned.reference });
  stripe.payStudio(100);
  const agreed = await asked(studio);
  assert.deepEqual([agreed.reconciled, agreed.matched, agreed.difference_total], [true, 6, 0], JSON.stringify(agreed));
  assert.deepEqual(
    agreed.totals.map(({ kind, ledger, provider, count }) => [kind, ledger, provider, count]),
    [
      ['payment', 597, 597, 3],
      ['refund', 398, 398, 2],
      ['payout', 5_000, 5_000, 1],
    ],
  );

  const late = await pay();
  const unknown = await pay();
  const booked = await pay();
  await settle(booked);
  const lost = stripe.balance.findIndex(({ source }) => JSON.stringify(source).includes(booked.reference));
  stripe.balance.splice(lost, 1);
  const changed = await pay();
  await settle(changed);
  Object.assign(stripe.balance[0]!.source as object, { amount: 99 });
  const found = await asked(studio);
  assert.equal(found.reconciled, false);
  assert.deepEqual(differences(found).sort(), [
    ['different_amount', 'payment', changed.reference],
    ['missing_at_provider', 'payment', booked.reference],
    ...[late.reference, unknown.reference].sort().map((reference) => ['missing_in_ledger', 'payment', reference]),
  ]);
  const staff = await api.as(await api.aUser({ admin: true }));
  const site = (await staff.call(getStaffReconciliation, { query: { provider: 'stripe', from: today() } })).body;
  assert.equal(site.matched, 7, 'with the other game');
  assert.deepEqual(site.others.map(({ type, amount }) => [type, amount]).sort(), [
    ['fee', -30 * 7],
    ['payout', -100],
  ]);
  for (const each of [late, unknown]) await settle(each);
  assert.equal((await asked(studio)).difference_total, 2);
});

const CSV = 'text/csv';

test('a settlement file of a store is held against the sales at it', async () => {
  const studio = await api.as(game.owner);
  const user = await api.aUser();
  const player = await api.as(user, { gameId: game.id });
  const params = { game_id: game.id, portal: 'steam' };
  const bought: number[] = [];
  for (let i = 0; i < 3; i += 1)
    bought.push((await player.call(addSimulatedPurchase, { params, body: { sku: '1001' } })).body.id);
  assert.equal((await player.call(syncSteam, { body: { game_id: game.id } })).status, 200);
  await player.call(refundSimulatedPurchase, { params: { ...params, simulated_purchase_id: bought[2]! } });
  const lines = [
    '"Order Number","Transaction Type","Amount","Currency"',
    `"simulated/${bought[0]}","Charge","1,234.56","EUR"`,
    `"simulated/${bought[0]}","Store fee","-370.37","EUR"`,
    `"simulated/${bought[2]}","Charge",4.99,EUR`,
    `"simulated/${bought[2]}","Charge refund",-4.99,EUR`,
    '"simulated/999","Charge",4.99,EUR',
  ];
  const query = {
    provider: 'steam',
    columns: 'reference=Order Number,type=Transaction Type,amount=Amount,currency=Currency',
  };
  const send = (text: string, more: Record<string, string> = {}) =>
    studio.call(reconcileGameSettlement, {
      params: { game_id: game.id },
      query: { ...query, from: today(), ...more },
      raw: Buffer.from(text),
      headers: { 'content-type': CSV },
    });
  const answer = await send(lines.join('\r\n'));
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(differences(answer.body).sort(), [
    ['missing_at_provider', 'payment', `simulated/${bought[1]}`],
    ['missing_in_ledger', 'payment', 'simulated/999'],
  ]);
  assert.deepEqual(
    [answer.body.matched, answer.body.others],
    [3, [{ type: 'Store fee', currency: 'EUR', amount: -37_037, count: 1 }]],
  );
  for (const columns of ['reference=Nowhere', 'nothing=1', 'reference'])
    assert.equal((await send(lines.join('\n'), { columns })).status, 422, columns);
  assert.equal((await send('Order Number\n"open')).status, 422);
});

test('files have a comma, a semicolon or a tab, and amounts as each country writes them', () => {
  const read = (text: string) =>
    settlementRecords(text, columnsOf('')).records.map(({ kind, amount }) => [kind, amount]);
  assert.deepEqual(read('\uFEFFreference;amount;currency\na;4,99;EUR\nb;-4,99;EUR\n'), [
    ['payment', 499],
    ['refund', 499],
  ]);
  assert.deepEqual(read('reference\tamount\tcurrency\na\t1,500\tJPY\n'), [['payment', 1_500]]);
  assert.deepEqual(read('reference,type\n"a ""b"", c",Sale\n'), [['payment', undefined]]);
});

test('only administrators reconcile, and a provider has to be one that can be asked', async () => {
  const studio = await api.as(game.owner);
  const stranger = await api.as(await api.aUser());
  const params = { game_id: game.id };
  await stranger.refused(getGameReconciliation, { params, query: { provider: 'stripe' } }, 403, 14_002);
  await studio.refused(getGameReconciliation, { params, query: { provider: 'steam' } }, 422, 13_009);
  await studio.refused(getStaffReconciliation, { query: { provider: 'stripe' } }, 403, 17_012);
});
