import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi, type User } from '../../../test/api.ts';
import {
  aBuyer,
  aPack,
  aPaidMod,
  aSeller,
  aSellingGame,
  buyPack,
  choose,
  giveEarnings,
  type SellingGame,
  walletOf,
} from '../../../test/money.ts';
import { composeWorker } from '../../composition/compose.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { requestPayoutOperation } from '../payouts/operations.ts';
import { getUserPurchases, purchase, refundGamePurchase } from '../purchases/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { clearDue } from './clearing.ts';
import { getUserEarnings } from './operations.ts';

const api = await startApi({
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_PAYOUTS: 'off',
    MODSTEAD_RATE_LIMITS: 'off',
  },
});
const DAY = 86_400;
const worker = composeWorker(api.app());
const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);

const terms = (game: SellingGame, body: Record<string, boolean | number | string>) =>
  game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body });

/** Sells the mod to a new buyer and returns the id of the purchase. */
async function sold(game: SellingGame, params: { game_id: number; mod_id: number }, tokens = 100): Promise<number> {
  const { buyer, user } = await aBuyer(api, { ...game, studio: await api.as(game.owner) }, tokens);
  const answer = await buyer.call(purchase, { params, body: { idempotent_key: 'once' } });
  assert.equal(answer.status, 200, answer.text);
  const { query } = api.app().db;
  return (await query.selectFrom('purchases').select('id').where('user_id', '=', user.id).executeTakeFirstOrThrow()).id;
}

async function earned(user: User, game: { id: number }) {
  const { data } = (await (await api.as(user)).call(getUserEarnings)).body;
  const found = data.find(({ game_id }) => game_id === game.id);
  return { pending: found?.pending_tokens ?? 0, balances: found?.balances ?? [] };
}

const usd = (available: number, deficit = 0) => [{ currency: 'USD', available, deficit, in_transit: 0 }];

const refund = async (game: SellingGame, purchase_id: number) =>
  (await api.as(game.owner)).call(refundGamePurchase, {
    params: { game_id: game.id, purchase_id },
    body: { reason: 'Broken' },
  });

test('earnings clear once when their hold is over, and fractions of a cent are carried over', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(api, game, { price: 100 });
  await sold(game, params);
  await terms(game, { hold_days: 2 });
  await sold(game, params);
  api.clock.advance(2 * DAY);
  await worker.runDue();
  // 53 tokens at $0.0052 are 27.56 cents.
  assert.deepEqual(await earned(mod.owner, game), { pending: 53, balances: usd(27) });
  api.clock.advance(28 * DAY);
  await Promise.all([clearDue(api.app(), async () => {}), clearDue(api.app(), async () => {})]);
  assert.deepEqual(await earned(mod.owner, game), { pending: 0, balances: usd(55) });
  await worker.runDue();
  assert.deepEqual(await earned(mod.owner, game), { pending: 0, balances: usd(55) });
  await sound();
});

test('tax is withheld, and tokens are valued, by the terms of the sale', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(api, game, { price: 100 });
  await terms(game, { withholding_basis_points: 1_000, currency: 'JPY', pool_micros: 4_000_000, fee_micros: 0 });
  await sold(game, params);
  await terms(game, { withholding_basis_points: 0, currency: 'USD', pool_micros: 4_000 });
  api.clock.advance(31 * DAY);
  await worker.runDue();
  // 70 tokens at 4 yen, without a tenth.
  const balances = [{ currency: 'JPY', available: 252, deficit: 0, in_transit: 0 }];
  assert.deepEqual(await earned(mod.owner, game), { pending: 0, balances });
  await sound();
});

test('a refund takes earnings back, whether they are pending or have cleared', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(api, game, { price: 100 });
  await terms(game, { studio_refund_days: 60 });
  const [early, late] = [await sold(game, params), await sold(game, params)];
  assert.equal((await refund(game, early)).status, 200);
  assert.equal((await earned(mod.owner, game)).pending, 53);
  api.clock.advance(31 * DAY);
  await worker.runDue();
  assert.deepEqual(await earned(mod.owner, game), { pending: 0, balances: usd(27) });
  assert.equal((await refund(game, late)).status, 200);
  assert.deepEqual(await earned(mod.owner, game), { pending: 0, balances: [] });
  await sound();
});

test('clearing and refunds at the same moment leave each sale in one state', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(api, game, { price: 100 });
  await terms(game, { studio_refund_days: 60 });
  const sales: number[] = [];
  for (let each = 0; each < 6; each += 1) sales.push(await sold(game, params));
  api.clock.advance(31 * DAY);
  const clearing = [clearDue(api.app(), async () => {}), clearDue(api.app(), async () => {})];
  const refunds = await Promise.all(sales.slice(0, 3).map((id) => refund(game, id)));
  await Promise.all(clearing);
  assert.deepEqual(
    refunds.map(({ status }) => status),
    [200, 200, 200],
  );
  await worker.runDue();
  const { pending, balances } = await earned(mod.owner, game);
  assert.equal(pending, 0);
  // Three of six sales stand: 82.68 cents, less what is left of a cent.
  assert.ok(balances[0]!.available >= 80 && balances[0]!.available <= 84, JSON.stringify(balances));
  await sound();
});

test('a disputed payment takes the mods that were bought since, and their earnings', async () => {
  const game = await aSellingGame(api);
  const [kept, taken] = [await aPaidMod(api, game, { price: 20 }), await aPaidMod(api, game, { price: 40 })];
  const { buyer } = await aBuyer(api, game, 20);
  await buyer.call(purchase, { params: kept.params, body: { idempotent_key: 'kept' } });
  api.clock.advance(1);
  const payment = await buyPack(api, buyer, game, await aPack(api, game, { tokens: 100 }));
  await buyer.call(purchase, { params: taken.params, body: { idempotent_key: 'taken' } });
  await choose(api, payment.checkout_url, 'dispute');
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 40, pending: 0 });
  await worker.runDue();
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 0, pending: 0 });
  const { data } = (await buyer.call(getUserPurchases)).body;
  assert.deepEqual(
    data.map(({ id }) => id),
    [kept.mod.id],
  );
  assert.equal((await earned(taken.mod.owner, game)).pending, 0);
  assert.equal((await earned(kept.mod.owner, game)).pending, 11);
  await sound();
});

test('where payouts are off, earnings wait', async () => {
  const game = await aSellingGame(api);
  const { user, client } = await aSeller(api);
  await giveEarnings(api, user, game.id, 5_000);
  const asked = { params: { game_id: game.id }, body: { idempotent_key: 'all' } };
  await client.refused(requestPayoutOperation, asked, 403, 900_054);
  assert.deepEqual((await earned(user, game)).balances, usd(5_000));
});
