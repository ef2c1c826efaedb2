import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import {
  aBuyer,
  aPack,
  aPaidMod,
  aSeller,
  aSellingGame,
  buyPack,
  choose,
  giveEarnings,
  registerAsSeller,
  type SellingGame,
} from '../../../test/money.ts';
import { composeWorker } from '../../composition/compose.ts';
import { deleteAUser } from '../../signin/accounts/operations.ts';
import { getUserEarnings } from '../earnings/operations.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { decideSellerAccount } from '../partners/operations.ts';
import { purchase, refundGamePurchase } from '../purchases/operations.ts';
import { createRevenueTeam } from '../revenue-teams/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { getGamePayouts, getUserPayout, getUserPayouts, requestPayoutOperation } from './operations.ts';
import { settlePayouts } from './settling.ts';

const api = await startApi({
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_PAYOUTS: 'simulated',
    MODSTEAD_RATE_LIMITS: 'off',
  },
});
const DAY = 86_400;
const worker = composeWorker(api.app());
const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);
const terms = (game: SellingGame, body: Record<string, number | boolean>) =>
  game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body });

const asking = (game: { id: number }, body: { idempotent_key?: string; amount?: number; currency?: string } = {}) => ({
  params: { game_id: game.id },
  body: { idempotent_key: api.unique('key'), ...body },
});

async function later(seconds: number): Promise<void> {
  api.clock.advance(seconds);
  await worker.runDue();
}

async function balances(client: Client, game: { id: number }) {
  const { data } = (await client.call(getUserEarnings)).body;
  const [found] = data.find(({ game_id }) => game_id === game.id)?.balances ?? [];
  return [found?.available ?? 0, found?.in_transit ?? 0, found?.deficit ?? 0];
}

const statusOf = async (client: Client, payout_id: number) =>
  (await client.call(getUserPayout, { params: { payout_id } })).body.status;

test('a payout is sent and arrives once, however often it is requested and settled', async () => {
  const game = await aSellingGame(api);
  await terms(game, { payout_fee: 50 });
  const { user, client } = await aSeller(api);
  await giveEarnings(api, user, game.id, 5_000);
  const request = asking(game, { amount: 3_000 });
  const answers = await Promise.all(Array.from({ length: 4 }, () => client.call(requestPayoutOperation, request)));
  const { id, amount, fee, status } = answers[0]!.body;
  assert.deepEqual([...new Set(answers.map(({ body }) => body.id))], [id]);
  assert.deepEqual([amount, fee, status], [2_950, 50, 'requested']);
  assert.deepEqual(await balances(client, game), [2_000, 2_950, 0]);
  await client.refused(requestPayoutOperation, { ...request, body: { ...request.body, amount: 2_000 } }, 422, 900_001);
  await Promise.all([settlePayouts(api.app(), async () => {}), settlePayouts(api.app(), async () => {})]);
  assert.equal(await statusOf(client, id), 'sent');
  await later(120);
  assert.equal(await statusOf(client, id), 'paid');
  assert.deepEqual(await balances(client, game), [2_000, 0, 0]);
  await later(DAY);
  const { data } = (await (await api.as(game.owner)).call(getGamePayouts, { params: { game_id: game.id } })).body;
  assert.deepEqual(
    data.map((each) => [each.user_id, each.status]),
    [[user.id, 'paid']],
  );
  await sound();
});

test('only approved sellers with enough earnings are paid, and nobody who owes tokens', async () => {
  const game = await aSellingGame(api);
  const user = await api.aUser();
  const client = await api.as(user);
  const staff = await api.as(await api.aUser({ admin: true }));
  const decide = (status: 'action' | 'approved' | 'rejected') =>
    staff.call(decideSellerAccount, { params: { user_id: user.id }, body: { status } });
  await giveEarnings(api, user, game.id, 5_000);
  await client.refused(requestPayoutOperation, asking(game), 422, 900_007);
  await registerAsSeller(client);
  await client.refused(requestPayoutOperation, asking(game), 403, 900_046);
  await decide('action');
  await client.refused(requestPayoutOperation, asking(game), 422, 900_003);
  await decide('rejected');
  await client.refused(requestPayoutOperation, asking(game), 403, 900_015);
  await decide('approved');
  for (const body of [{ amount: 999 }, { amount: 5_001 }, { currency: 'EUR' }])
    await client.refused(requestPayoutOperation, asking(game, body), 422, 900_006);
  const debt = await buyPack(api, client, game, await aPack(api, game));
  const { params } = await aPaidMod(api, game, { price: 60 });
  await client.call(purchase, { params, body: { idempotent_key: 'mod' } });
  await choose(api, debt.checkout_url, 'dispute');
  await client.refused(requestPayoutOperation, asking(game), 422, 900_008);
  await worker.runDue();
  assert.equal((await client.call(requestPayoutOperation, asking(game))).status, 200);
  await staff.refused(deleteAUser, { params: { user_id: user.id } }, 422, 900_038);
  await sound();
});

test('what fails or is returned can be paid out again', async () => {
  const game = await aSellingGame(api);
  await terms(game, { payout_fee: 50 });
  for (const [details, outcome] of [
    ['simulated_failed', 'failed'],
    ['simulated_returned', 'returned'],
  ] as const) {
    const { user } = await aSeller(api, details);
    await giveEarnings(api, user, game.id, 5_000);
    const { id } = (await (await api.as(user)).call(requestPayoutOperation, asking(game))).body;
    await later(60);
    await later(120);
    assert.equal(await statusOf(await api.as(user), id), outcome === 'failed' ? 'failed' : 'paid');
    await later(2 * DAY);
    assert.equal(await statusOf(await api.as(user), id), outcome);
    assert.deepEqual(await balances(await api.as(user), game), [5_000, 0, 0]);
  }
  await sound();
});

test('a refund after the payout is owed, and later earnings settle it', async () => {
  const game = await aSellingGame(api);
  await terms(game, { hold_days: 0, payout_min: 1, studio_refund_days: 60 });
  const { mod, author, params } = await aPaidMod(api, game, { price: 100 });
  const { user, client } = await aSeller(api);
  const body = { 'users[0][id]': user.id, 'users[0][split]': 100 } as never;
  await author.call(createRevenueTeam, { params: { game_id: game.id, mod_id: mod.id }, body });
  const buy = async () => {
    const { buyer } = await aBuyer(api, game);
    return (await buyer.call(purchase, { params, body: { idempotent_key: 'once' } })).body.transaction_id;
  };
  const bought = await buy();
  await later(60);
  assert.deepEqual(await balances(client, game), [27, 0, 0]);
  await client.call(requestPayoutOperation, asking(game));
  await later(60);
  await later(120);
  const refund = { params: { game_id: game.id, purchase_id: bought }, body: { reason: 'Broken' } };
  assert.equal((await game.studio.call(refundGamePurchase, refund)).status, 200);
  assert.deepEqual(await balances(client, game), [0, 0, 27]);
  await client.refused(requestPayoutOperation, asking(game), 422, 900_006);
  await buy();
  await buy();
  await later(60);
  // 5,600 millionths are left of the first sale: 28 and 27 cents.
  assert.deepEqual(await balances(client, game), [28, 0, 0]);
  await sound();
});

test('where the terms say so, sellers are paid once a month without a request', async () => {
  const game = await aSellingGame(api);
  await terms(game, { payout_monthly: true });
  const { user } = await aSeller(api);
  const unknown = await api.aUser();
  for (const each of [user, unknown]) await giveEarnings(api, each, game.id, 1_500);
  await later(3_600);
  await giveEarnings(api, user, game.id, 1_500);
  await later(3_600);
  const payouts = async () => (await (await api.as(user)).call(getUserPayouts)).body.data;
  assert.equal((await payouts()).length, 1);
  await later(31 * DAY);
  const [second, first] = await payouts();
  assert.notEqual(second!.period, first!.period);
  assert.deepEqual(await balances(await api.as(unknown), game), [1_500, 0, 0]);
  await sound();
});
