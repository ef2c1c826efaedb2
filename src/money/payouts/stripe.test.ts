import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aSeller, aSellingGame, giveEarnings } from '../../../test/money.ts';
import { startStripe } from '../../../test/stripe.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { getUserPayout, openPayoutAccount, requestPayoutOperation } from './operations.ts';
import { settlePayouts } from './settling.ts';

const stripe = await startStripe();
const { connect } = stripe;
const settings = { ...stripe.settings, MODSTEAD_PAYOUTS: 'stripe', MODSTEAD_JOBS: 'off', MODSTEAD_RATE_LIMITS: 'off' };
const api = await startApi({ settings });
const game = await aSellingGame(api);
const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);

async function settle(seconds = 0): Promise<void> {
  api.clock.advance(seconds);
  await settlePayouts(api.app(), async () => {});
}

const request = () => ({ params: { game_id: game.id }, body: { idempotent_key: api.unique('key') } });

/** A seller who has completed what Stripe asks for, and has requested a payout. */
async function requested(amount = 5_000) {
  const { user, client } = await aSeller(api);
  const { body } = await client.call(openPayoutAccount);
  const account = connect.accounts.get(body.onboarding_url.split('/').at(-1)!)!;
  Object.assign(account, { payouts_enabled: true, details_submitted: true });
  await giveEarnings(api, user, game.id, amount);
  const { id } = (await client.call(requestPayoutOperation, request())).body;
  const status = async () =>
    (await (await api.as(user)).call(getUserPayout, { params: { payout_id: id } })).body.status;
  const there = () => connect.payouts.filter((each) => each.account === account.id);
  return { user, client, account, status, there };
}

test('Stripe pays a seller who has completed its onboarding, once, although answers are lost', async () => {
  const { user, client } = await aSeller(api);
  await giveEarnings(api, user, game.id, 5_000);
  const first = (await client.call(openPayoutAccount)).body;
  assert.equal(first.ready, false);
  assert.deepEqual((await client.call(openPayoutAccount)).body, first);
  await client.refused(requestPayoutOperation, request(), 422, 900_003);
  for (const fault of ['lose the answer', 'fail after it'] as const) {
    const { status, there } = await requested();
    stripe.fault = fault;
    await settle();
    await settle(60);
    await settle(3_600);
    assert.deepEqual([await status(), there().length], ['sent', 1], fault);
    there()[0]!.status = 'paid';
    await settle(3_600);
    assert.equal(await status(), 'paid');
  }
  assert.equal(new Set(connect.transfers.map((each) => each.transfer_group)).size, connect.transfers.length);
  await sound();
});

test('a transfer whose answer was lost for longer than Stripe remembers keys is found again', async () => {
  const { status, there } = await requested();
  stripe.fault = 'fail after it';
  await settle();
  stripe.forget();
  const before = connect.transfers.length;
  await settle(2 * 86_400);
  assert.deepEqual([await status(), there().length, connect.transfers.length], ['sent', 1, before]);
});

test('a payout that the bank refuses returns to the seller, and the transfer to the site', async () => {
  const before = connect.balance;
  const { status, there } = await requested();
  await settle();
  there()[0]!.status = 'failed';
  await settle(3_600);
  assert.deepEqual([await status(), connect.balance], ['failed', before]);
  const late = await requested();
  await settle();
  late.there()[0]!.status = 'paid';
  await settle(3_600);
  late.there()[0]!.status = 'failed';
  await settle(86_400);
  assert.deepEqual([await late.status(), connect.balance], ['returned', before]);
  const closed = await requested();
  closed.account.payouts_enabled = false;
  await settle();
  assert.deepEqual([await closed.status(), connect.balance], ['failed', before]);
  await sound();
});

test('a site without enough money at Stripe pays later', async () => {
  const { balance } = connect;
  connect.balance = 0;
  const { status } = await requested();
  await settle();
  assert.equal(await status(), 'requested');
  connect.balance = balance;
  await settle(3_600);
  assert.equal(await status(), 'sent');
});
