import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi, type User } from '../../../test/api.ts';
import { aBuyer, aPack, aPaidMod, aSellingGame, choose, type SellingGame, walletOf } from '../../../test/money.ts';
import { deleteModOperation, editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { getUserSubscriptions } from '../../community/subscriptions/operations.ts';
import { composeWorker } from '../../composition/compose.ts';

import { verifyLedger } from '../ledger/verification.ts';
import { deleteGameTokenPack, editGameTokenPack } from '../packs/operations.ts';
import { getUserPayments } from '../payments/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { getUserPurchases, purchase, refundPurchase } from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});

const runJobs = () => composeWorker(api.app()).runDue();
const ACCEPTED = { terms_accepted: true, refund_accepted: true };
const AT_ONCE = { ...ACCEPTED, type: 2, payment_method_id: 'simulated_paid' };
const key = () => ({ idempotent_key: api.unique('key') });
const owned = async (buyer: Client) => (await buyer.call(getUserPurchases)).body.data.map(({ id }) => id);
const payments = async (buyer: Client) => (await buyer.call(getUserPayments)).body.data.map(({ status }) => status);
const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);

/** A mod that costs a token pack. */
async function aPackedMod(game: SellingGame, options = {}) {
  const pack = await aPack(api, game, { tokens: 500, price: 499, skus: ['steam=1001'] });
  return { pack, ...(await aPaidMod(api, game, { tokenpack_id: pack.id, ...options })) };
}

async function aPerson(): Promise<{ user: User; buyer: Client }> {
  const user = await api.aUser();
  return { user, buyer: await api.as(user) };
}

test('a buyer pays for a mod with money in one step, and a repeated request charges nothing', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPackedMod(game);
  const { buyer } = await aPerson();
  const body = { ...AT_ONCE, ...key(), display_amount: 499 };
  const answers = await Promise.all([1, 2, 3].map(() => buyer.call(purchase, { params, body })));
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200],
    answers.map(({ text }) => text).join(),
  );
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  const { transaction_type, gross_amount, currency, balance } = answers[0]!.body;
  assert.deepEqual([transaction_type, gross_amount, currency, balance], ['PAID', 500, 'mio', 0]);
  assert.deepEqual(await owned(buyer), [mod.id]);
  assert.deepEqual(await payments(buyer), ['paid']);
  assert.equal((await buyer.call(getUserSubscriptions)).body.result_total, 1);
  await sound();
});

test('paying with money needs the terms, the price that was shown, a method and a pack that covers the price', async () => {
  const game = await aSellingGame(api);
  const { params, pack } = await aPackedMod(game);
  const { buyer } = await aPerson();
  const body = { ...AT_ONCE, ...key() };
  await buyer.refused(purchase, { params, body: { ...body, refund_accepted: false } }, 403, 900_044);
  await buyer.refused(purchase, { params, body: { ...body, display_amount: 498 } }, 422, 900_035);
  await buyer.refused(purchase, { params, body: { ...body, payment_method_id: undefined } }, 422, 13_009);
  await buyer.refused(purchase, { params, body: { ...body, payment_method_id: 'simulated_declined' } }, 402, 900_030);
  assert.deepEqual(await owned(buyer), []);
  assert.equal((await buyer.call(purchase, { params, body })).status, 200);
  const dear = await aPaidMod(api, game, { price: 501 });
  await buyer.refused(purchase, { params: dear.params, body: { ...AT_ONCE, ...key() } }, 422, 900_051);
  await game.studio.call(deleteGameTokenPack, { params: { game_id: game.id, token_pack_id: pack.id } });
  await sound();
});

test('a price in tokens is paid with the cheapest pack that has the missing tokens, and the rest stays', async () => {
  const game = await aSellingGame(api);
  await aPack(api, game, { tokens: 50, price: 99 });
  const { buyer } = await aBuyer(api, game, 30);
  const { params } = await aPaidMod(api, game, { price: 75 });
  const answer = await buyer.call(purchase, { params, body: { ...AT_ONCE, ...key(), display_amount: 99 } });
  assert.deepEqual([answer.status, answer.body.balance], [200, 5], answer.text);
  await sound();
});

test('an intent shows total and tax, and the commit hands the mod over once the buyer has paid', async () => {
  const game = await aSellingGame(api);
  const terms = { tax_basis_points: 1_000, tax_included: false };
  await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: terms });
  const { mod, params, author } = await aPackedMod(game);
  const { buyer } = await aPerson();
  const body = { ...ACCEPTED, idempotent_key: String(mod.id) };
  const intent = await buyer.call(purchase, { params, body: { ...body, type: 3 } });
  const { transaction_id, transaction_type, gross_amount, tax, currency, checkout_url } = intent.body;
  assert.deepEqual([transaction_type, gross_amount, tax, currency], ['PENDING', 549, 50, 'USD'], intent.text);
  assert.equal((await buyer.call(purchase, { params, body: { ...body, type: 3 } })).text, intent.text);
  const commit = { params, body: { ...body, type: 4, transaction_id } };
  await buyer.refused(purchase, commit, 402, 900_030);
  const { buyer: thief } = await aPerson();
  await thief.refused(purchase, commit, 422, 900_000);
  await author.call(editModByPut, { params, body: { price: 0, monetization_options: 0 } });
  await author.refused(deleteModOperation, { params }, 403, 15_050);
  await author.call(editModByPut, { params, body: { tokenpack_id: 0, price: 600, monetization_options: 3 } });
  await choose(api, checkout_url, 'pay');
  const done = await buyer.call(purchase, commit);
  assert.deepEqual([done.body.transaction_type, done.body.gross_amount], ['PAID', 500], done.text);
  assert.equal((await buyer.call(purchase, commit)).text, done.text);
  assert.deepEqual(await owned(buyer), [mod.id]);
  await sound();
});

test('a buyer who pays and never commits gets the mod from a job', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPackedMod(game);
  const { buyer } = await aPerson();
  const { body } = await buyer.call(purchase, { params, body: { ...ACCEPTED, ...key(), type: 3 } });
  await choose(api, body.checkout_url, 'pay');
  await runJobs();
  assert.deepEqual(await owned(buyer), [mod.id]);
  await sound();
});

test('a payment that takes its time is pending, and the same request completes it', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPackedMod(game);
  const { user, buyer } = await aPerson();
  const body = { ...AT_ONCE, ...key(), payment_method_id: 'simulated_delayed' };
  const first = await buyer.call(purchase, { params, body });
  assert.equal(first.body.transaction_type, 'PENDING', first.text);
  api.clock.advance(61);
  const later = await api.as(user);
  assert.equal((await later.call(purchase, { params, body })).body.transaction_type, 'PAID');
  assert.deepEqual(await owned(later), [mod.id]);
});

test('a buyer whose mod was sold out before the payment arrived gets the money back', async () => {
  const game = await aSellingGame(api, 1 | 2 | 8);
  const { params } = await aPackedMod(game, { monetization_options: 1 | 2 | 8, stock: 1 });
  const [{ buyer: slow }, { buyer: quick }] = [await aPerson(), await aPerson()];
  const { body } = await slow.call(purchase, { params, body: { ...ACCEPTED, ...key(), type: 3 } });
  assert.equal((await quick.call(purchase, { params, body: { ...AT_ONCE, ...key() } })).status, 200);
  await slow.refused(purchase, { params, body: { ...ACCEPTED, ...key(), type: 3 } }, 422, 900_061);
  await choose(api, body.checkout_url, 'pay');
  const commit = { ...ACCEPTED, ...key(), type: 4, transaction_id: body.transaction_id };
  await slow.refused(purchase, { params, body: commit }, 422, 900_061);
  assert.deepEqual(await payments(slow), ['refunded']);
  assert.deepEqual(await walletOf(slow, game), { balance: 0, deficit: 0, pending: 0 });
  await runJobs();
  assert.deepEqual(await owned(slow), []);
  await sound();
});

test('a returned mod that was paid for with money is refunded in money, and can be bought again', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPackedMod(game);
  const { buyer } = await aPerson();
  const body = { ...AT_ONCE, idempotent_key: String(mod.id) };
  await buyer.call(purchase, { params, body });
  assert.equal((await buyer.call(refundPurchase, { params })).status, 200);
  assert.deepEqual(await payments(buyer), ['refunded']);
  assert.equal((await walletOf(buyer, game)).balance, 0);
  assert.equal((await buyer.call(purchase, { params, body })).body.transaction_type, 'PAID');
  assert.deepEqual(await payments(buyer), ['paid', 'refunded']);
  await sound();
});

test('a disputed payment takes the mod with it and leaves no deficit', async () => {
  const game = await aSellingGame(api);
  const { params } = await aPackedMod(game);
  const { buyer } = await aPerson();
  const { body } = await buyer.call(purchase, { params, body: { ...ACCEPTED, ...key(), type: 3 } });
  await choose(api, body.checkout_url, 'pay');
  await runJobs();
  await choose(api, body.checkout_url, 'dispute');
  await runJobs();
  assert.deepEqual(await owned(buyer), []);
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 0, pending: 0 });
  await sound();
});

test('a mod that costs a pack shows its SKUs and follows it', async () => {
  const game = await aSellingGame(api);
  const { pack, params, author } = await aPackedMod(game);
  const shown = (await author.call(getMod, { params })).body;
  assert.deepEqual([shown.price, shown.skus.map(({ portal }) => portal)], [500, ['steam']]);
  const ofPack = { game_id: game.id, token_pack_id: pack.id };
  await game.studio.call(editGameTokenPack, { params: ofPack, body: { tokens: 450, skus: ['xboxlive=x1'] } });
  await runJobs();
  const after = (await author.call(getMod, { params })).body;
  assert.deepEqual([after.price, after.skus.map(({ sku }) => sku)], [450, ['x1']]);
  await game.studio.call(deleteGameTokenPack, { params: ofPack });
  await runJobs();
  const last = (await author.call(getMod, { params })).body;
  assert.deepEqual([last.price, last.skus], [450, []]);
});
