import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aPack, aPaidMod, aSellingGame, type SellingGame, walletOf } from '../../../test/money.ts';
import { deleteModOperation, editModByPut } from '../../catalogue/mods/operations.ts';
import { composeWorker } from '../../composition/compose.ts';
import { verifyLedger } from '../ledger/verification.ts';
import {
  addSimulatedPurchase,
  getUserEntitlements,
  paySimulatedPurchase,
  refundSimulatedPurchase,
} from '../stores/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { getUserPurchases, purchase, refundPurchase } from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_STORES: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const runJobs = () => composeWorker(api.app()).runDue();
const headers = { 'X-Modio-Portal': 'steam' };
const EMPTY = { balance: 0, deficit: 0, pending: 0 };

/** A mod whose price is a token pack with an SKU at Steam, and a buyer. */
async function aShop(offer = {}) {
  const game = await aSellingGame(api, 1 | 2 | 8);
  const pack = await aPack(api, game, { tokens: 500, skus: ['steam=1001'] });
  const { params, author, mod } = await aPaidMod(api, game, { tokenpack_id: pack.id, ...offer });
  const user = await api.aUser();
  return { game, pack, params, author, mod, user, ...(await atStore(await api.as(user), game)) };
}

async function atStore(buyer: Client, game: SellingGame) {
  const at = { game_id: game.id, portal: 'steam' };
  const buy = async (order = {}) =>
    (await buyer.call(addSimulatedPurchase, { params: at, body: { sku: '1001', ...order } })).body;
  const refundAt = (id: number) =>
    buyer.call(refundSimulatedPurchase, { params: { ...at, simulated_purchase_id: id } });
  const unused = async () =>
    (await buyer.call(getUserEntitlements, { headers, body: { game_id: game.id } })).body.result_total;
  const owned = async () => (await buyer.call(getUserPurchases)).body.data.map(({ id }) => id);
  return { buyer, at, buy, refundAt, unused, owned, wallet: () => walletOf(buyer, game) };
}

const body = { idempotent_key: 'at-steam', type: 1 };
const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);

test('a purchase at the store of the portal buys the mod, and a repeated request consumes nothing', async () => {
  const { params, mod, buyer, buy, owned, unused, wallet } = await aShop();
  await buyer.refused(purchase, { params, headers, body }, 422, 900_064);
  for (let bought = 0; bought < 2; bought += 1) await buy();
  const answer = await buyer.call(purchase, { params, headers, body: { ...body, display_amount: 500 } });
  const { transaction_type, gross_amount, balance } = answer.body;
  assert.deepEqual([answer.status, transaction_type, gross_amount, balance], [200, 'PAID', 500, 0], answer.text);
  const again = await buyer.call(purchase, { params, headers, body: { ...body, display_amount: 500 } });
  assert.equal(again.text, answer.text);
  assert.deepEqual([await owned(), await unused(), await wallet()], [[mod.id], 1, EMPTY]);
  await buyer.refused(purchase, { params, headers, body: { ...body, idempotent_key: 'more' } }, 422, 900_034);
  assert.equal(await unused(), 1);
  await runJobs();
  await sound();
});

test('the rules of a game against fraud hold for purchases at stores, before anything is consumed', async () => {
  const { game, pack, params, buyer, buy, unused } = await aShop();
  const other = await aPaidMod(api, game, { tokenpack_id: pack.id });
  const studio = await api.as(game.owner);
  await studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: { purchases_per_hour: 1 } });
  for (let bought = 0; bought < 2; bought += 1) await buy();
  assert.equal((await buyer.call(purchase, { params, headers, body })).status, 200);
  const more = { params: other.params, headers, body: { ...body, idempotent_key: 'more' } };
  await buyer.refused(purchase, more, 422, 900_008);
  assert.equal(await unused(), 1);
});

test('of two requests at the same moment one consumes a purchase', async () => {
  const { params, mod, buyer, buy, owned, unused, wallet } = await aShop();
  for (let bought = 0; bought < 2; bought += 1) await buy();
  const keys = ['one', 'another'].map((idempotent_key) => ({ idempotent_key, type: 1 }));
  await Promise.all(keys.map((key) => buyer.call(purchase, { params, headers, body: key })));
  assert.deepEqual([await owned(), await unused(), await wallet()], [[mod.id], 1, EMPTY]);
  await sound();
});

test('if the answer of the store is lost, a job hands the mod over', async () => {
  const { params, mod, buyer, author, user, buy, game } = await aShop();
  await buy({ fault: 'lost_answer' });
  await buyer.refused(purchase, { params, headers, body }, 422, 900_055);
  await buyer.refused(purchase, { params, headers, body }, 422, 900_055);
  await author.call(editModByPut, { params, body: { price: 0, monetization_options: 0 } });
  await author.refused(deleteModOperation, { params }, 403, 15_050);
  await author.call(editModByPut, { params, body: { price: 500, monetization_options: 3 } });
  api.clock.advance(121);
  await runJobs();
  const later = await atStore(await api.as(user), game);
  assert.deepEqual([await later.owned(), await later.wallet()], [[mod.id], EMPTY]);
  const answer = await later.buyer.call(purchase, { params, headers, body });
  assert.equal(answer.status, 422, answer.text);
  await sound();
});

test('a buyer who repeats the request after a lost answer gets the mod at once', async () => {
  const { params, mod, buyer, user, buy, game } = await aShop();
  await buy({ fault: 'lost_answer' });
  await buyer.refused(purchase, { params, headers, body }, 422, 900_055);
  api.clock.advance(121);
  const later = await atStore(await api.as(user), game);
  const answer = await later.buyer.call(purchase, { params, headers, body });
  assert.equal(answer.status, 200, answer.text);
  await runJobs();
  assert.deepEqual([await later.owned(), await later.wallet()], [[mod.id], EMPTY]);
  await sound();
});

test('nothing is consumed for a mod that cannot be bought', async () => {
  const { params, buyer, author, buy, unused, at, game, pack } = await aShop({
    monetization_options: 1 | 2 | 8,
    stock: 0,
  });
  const waiting = await buy({ pending: true });
  await buyer.refused(purchase, { params, headers, body }, 422, 900_061);
  await author.call(editModByPut, { params, body: { stock: 1 } });
  await buyer.refused(purchase, { params, headers, body }, 402, 900_030);
  await buyer.call(paySimulatedPurchase, { params: { ...at, simulated_purchase_id: waiting.id } });
  await buyer.refused(purchase, { params, body }, 422, 900_098);
  await buyer.refused(purchase, { params, headers: { 'X-Modio-Portal': 'google' }, body }, 422, 900_051);
  await buyer.refused(purchase, { params, headers, body: { ...body, display_amount: 499 } }, 422, 900_035);
  const { params: dear } = await aPaidMod(api, game, { price: 700 });
  await buyer.refused(purchase, { params: dear, headers, body }, 422, 900_051);
  assert.equal(await unused(), 1);
  await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: { store_packs_per_day: 1 } });
  assert.equal((await buyer.call(purchase, { params, headers, body })).status, 200);
  const { params: next } = await aPaidMod(api, game, { tokenpack_id: pack.id });
  await buy();
  await buyer.refused(purchase, { params: next, headers, body: { ...body, idempotent_key: 'next' } }, 422, 900_064);
  assert.equal(await unused(), 1);
});

test('what the store refunds takes the mod with it and leaves no deficit', async () => {
  const { params, buyer, buy, refundAt, owned, wallet, author, game } = await aShop();
  const bought = await buy();
  await buyer.call(purchase, { params, headers, body });
  await refundAt(bought.id);
  assert.deepEqual(await wallet(), { ...EMPTY, deficit: 500 });
  await runJobs();
  assert.deepEqual([await owned(), await wallet(), (await walletOf(author, game)).pending], [[], EMPTY, 0]);
  await sound();
});

test('a returned mod leaves the tokens, and the next purchase at the store can buy it again', async () => {
  const { params, mod, buyer, buy, owned, wallet } = await aShop();
  await buy();
  await buyer.call(purchase, { params, headers, body });
  await buyer.call(refundPurchase, { params });
  assert.deepEqual([await owned(), await wallet()], [[], { ...EMPTY, balance: 500 }]);
  await buy();
  assert.equal((await buyer.call(purchase, { params, headers, body })).status, 200);
  assert.deepEqual([await owned(), await wallet()], [[mod.id], { ...EMPTY, balance: 500 }]);
  await sound();
});
