import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aPack, aSellingGame, buyPack, choose, walletOf } from '../../../test/money.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { deleteGameTokenPack, editGameTokenPack } from '../packs/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { buyTokenPack, getUserPayment, getUserPayments, refundUserPayment } from './operations.ts';
import { settlePending } from './payments.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated' } });
const DAY = 86_400;
const settled = () => settlePending(api.app(), async () => {});

async function aBuyer() {
  const game = await aSellingGame(api);
  const pack = await aPack(api, game);
  const player = await api.aUser();
  return { game, pack, player, buyer: await api.as(player), params: { game_id: game.id, token_pack_id: pack.id } };
}

test('a buyer pays for a token pack and has its tokens, once', async () => {
  const { game, pack, buyer } = await aBuyer();
  const { id: payment_id, checkout_url } = await buyPack(api, buyer, game, pack);
  assert.deepEqual(await walletOf(buyer, game), { balance: 100, deficit: 0, pending: 0 });
  await choose(api, checkout_url, 'pay').catch(() => {});
  await settled();
  assert.equal((await walletOf(buyer, game)).balance, 100);
  const payment = (await buyer.call(getUserPayment, { params: { payment_id } })).body;
  assert.deepEqual([payment.status, payment.price, payment.tokens], ['paid', 199, 100]);
  assert.deepEqual((await buyer.call(getUserPayments)).body.data, [payment]);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getUserPayment, { params: { payment_id } }, 404, 14_000);
  await stranger.refused(refundUserPayment, { params: { payment_id } }, 404, 14_000);
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

test('the same key begins one payment, and another pack needs another key', async () => {
  const { game, buyer, params } = await aBuyer();
  const body = { idempotent_key: 'tap' };
  const answers = await Promise.all([1, 2, 3].map(() => buyer.call(buyTokenPack, { params, body })));
  assert.equal(new Set(answers.map((answer) => answer.body.id)).size, 1);
  const other = await aPack(api, game);
  const wrong = { params: { ...params, token_pack_id: other.id }, body };
  await buyer.refused(buyTokenPack, wrong, 422, 900_001);
  api.clock.advance(DAY + 1);
  const later = await api.as({ id: (await api.aUser()).id });
  assert.notEqual((await later.call(buyTokenPack, { params, body })).body.id, answers[0]!.body.id);
});

test('a payment that fails, or that nobody completes, gives nothing', async () => {
  const { game, pack, player, buyer, params } = await aBuyer();
  const failed = await buyPack(api, buyer, game, pack, 'decline');
  const body = { idempotent_key: 'forgotten' };
  const forgotten = (await buyer.call(buyTokenPack, { params, body })).body;
  api.clock.advance(DAY + 1);
  await settled();
  const again = await api.as(player);
  for (const { id } of [failed, forgotten])
    assert.equal((await again.call(getUserPayment, { params: { payment_id: id } })).body.status, 'failed');
  assert.equal((await walletOf(again, game)).balance, 0);
});

test('a delayed payment arrives when the provider has it', async () => {
  const { game, pack, buyer } = await aBuyer();
  await buyPack(api, buyer, game, pack, 'pay-later');
  await settled();
  assert.equal((await walletOf(buyer, game)).balance, 0);
  api.clock.advance(61);
  await settled();
  assert.equal((await walletOf(buyer, game)).balance, 100);
});

test('a changed or removed pack leaves begun payments as they were', async () => {
  const { game, pack, buyer, params } = await aBuyer();
  const payment = (await buyer.call(buyTokenPack, { params, body: { idempotent_key: 'early' } })).body;
  await game.studio.call(editGameTokenPack, { params, body: { price: 999, tokens: 1 } });
  await game.studio.call(deleteGameTokenPack, { params });
  await buyer.refused(buyTokenPack, { params, body: { idempotent_key: 'late' } }, 404, 14_000);
  await choose(api, payment.checkout_url, 'pay');
  assert.equal((await walletOf(buyer, game)).balance, pack.tokens);
});

test('an unused pack can be returned once a year, within its days', async () => {
  const { game, pack, player, buyer } = await aBuyer();
  const first = await buyPack(api, buyer, game, pack);
  const second = await buyPack(api, buyer, game, pack);
  const refunded = (await buyer.call(refundUserPayment, { params: { payment_id: first.id } })).body;
  assert.equal(refunded.status, 'refunded');
  assert.equal((await walletOf(buyer, game)).balance, 100);
  await buyer.refused(refundUserPayment, { params: { payment_id: first.id } }, 422, 900_000);
  await buyer.refused(refundUserPayment, { params: { payment_id: second.id } }, 422, 900_000);
  api.clock.advance(31 * DAY);
  const later = await api.as(player);
  await later.refused(refundUserPayment, { params: { payment_id: second.id } }, 422, 900_000);
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

test('the terms of the day on which a pack was bought decide over its return', async () => {
  const { game, pack, buyer } = await aBuyer();
  const payment = await buyPack(api, buyer, game, pack);
  await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: { pack_refund_days: 0 } });
  assert.equal((await buyer.call(refundUserPayment, { params: { payment_id: payment.id } })).status, 200);
});

test('a disputed payment takes its tokens back', async () => {
  const { game, pack, buyer } = await aBuyer();
  const { id, checkout_url } = await buyPack(api, buyer, game, pack);
  await choose(api, checkout_url, 'dispute');
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 0, pending: 0 });
  assert.equal((await buyer.call(getUserPayment, { params: { payment_id: id } })).body.status, 'disputed');
  await buyer.refused(refundUserPayment, { params: { payment_id: id } }, 422, 900_000);
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

test('taxes are part of the price or come on top of it, as the game says', async () => {
  const { game, buyer, params } = await aBuyer();
  const buy = async (key: string) => (await buyer.call(buyTokenPack, { params, body: { idempotent_key: key } })).body;
  const terms = (body: Record<string, number | boolean>) =>
    game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body });
  await terms({ tax_basis_points: 1_900 });
  const included = await buy('included');
  assert.deepEqual([included.price, included.tax], [199, 32]);
  await terms({ tax_included: false });
  const added = await buy('added');
  assert.deepEqual([added.price, added.tax], [237, 38]);
  await choose(api, added.checkout_url, 'pay');
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

test('nothing is sold where the game does not sell, or nobody receives payments', async () => {
  const { game, pack, buyer, params } = await aBuyer();
  const body = { idempotent_key: 'key' };
  const idle = await aSellingGame(api, 0);
  const idlePack = await aPack(api, idle);
  const there = { game_id: idle.id, token_pack_id: idlePack.id };
  await buyer.refused(buyTokenPack, { params: there, body }, 403, 900_013);
  await buyer.refused(buyTokenPack, { params: { ...there, game_id: game.id }, body }, 404, 14_000);
  const unpaid = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
  const unpaidGame = await aSellingGame(unpaid);
  const unpaidPack = await aPack(unpaid, unpaidGame);
  const client = await unpaid.as(await unpaid.aUser());
  const where = { game_id: unpaidGame.id, token_pack_id: unpaidPack.id };
  await client.refused(buyTokenPack, { params: where, body }, 403, 900_054);
  const closed = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_MONETIZATION: 'off' } });
  const closedGame = await aSellingGame(closed);
  const closedPack = await aPack(closed, closedGame);
  const visitor = await closed.as(await closed.aUser());
  const which = { game_id: closedGame.id, token_pack_id: closedPack.id };
  await visitor.refused(buyTokenPack, { params: which, body }, 403, 900_012);
  assert.ok(pack.id && params.game_id);
});
