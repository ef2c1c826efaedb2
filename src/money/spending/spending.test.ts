import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aBuyer, aPack, aPaidMod, aSellingGame, buyPack, choose, walletOf } from '../../../test/money.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getAudit } from '../../studio/audit/operations.ts';
import { decideMarketplaceLock, getMarketplaceLocks } from '../marketplace-locks/operations.ts';
import { buyTokenPack } from '../payments/operations.ts';
import { purchase } from '../purchases/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { getUserWallet } from '../wallets/operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const HOUR = 3_600;
const staff = await api.as(await api.aUser({ admin: true }));

/** A game with these terms, mods for sale, and a way to buy the next of them. */
async function aGuardedGame(terms: Record<string, number | boolean>, mods = 3) {
  const game = await aSellingGame(api);
  const offers = await Promise.all(Array.from({ length: mods }, () => aPaidMod(api, game, { price: 10 })));
  await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: terms });
  const order = (index: number) => ({ params: offers[index]!.params, body: { idempotent_key: `mod ${index}` } });
  return { game, offers, order };
}

const refusalsOf = async (userId: number) => {
  const query = { action: 'users.purchase-refused', resource_id: userId, _limit: 100 };
  return (await staff.call(getAudit, { query })).body.data.map(({ data }) => (data as { guard: string }).guard);
};

test('a user buys as many mods in an hour as the game allows, also at once, and the log has the refusal once', async () => {
  const { game, order } = await aGuardedGame({ purchases_per_hour: 2 }, 4);
  const { user, buyer } = await aBuyer(api, game);
  const answers = await Promise.all([0, 1, 2].map((index) => buyer.call(purchase, order(index))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 422]);
  await buyer.refused(purchase, order(3), 422, 900_008);
  assert.deepEqual(await refusalsOf(user.id), ['purchases-of-user']);
  const { buyer: other } = await aBuyer(api, game);
  assert.equal((await other.call(purchase, order(3))).status, 200);
  api.clock.advance(HOUR);
  assert.equal((await buyer.call(purchase, order(3))).status, 200);
});

test('tokens per day, purchases from one address and purchases of a game are limited', async () => {
  const byTokens = await aGuardedGame({ tokens_per_day: 15 });
  const spender = (await aBuyer(api, byTokens.game)).buyer;
  assert.equal((await spender.call(purchase, byTokens.order(0))).status, 200);
  await spender.refused(purchase, byTokens.order(1), 422, 900_008);
  for (const limit of ['purchases_per_hour_and_address', 'purchases_per_hour_in_game']) {
    const { game, order } = await aGuardedGame({ [limit]: 1 });
    const [one, two] = [await aBuyer(api, game), await aBuyer(api, game)];
    assert.equal((await one.buyer.call(purchase, order(0))).status, 200);
    await two.buyer.refused(purchase, order(0), 422, 900_008);
  }
});

test('a user pays for as many token packs in a day as the game allows, also at once, and also for mods', async () => {
  const { game, order } = await aGuardedGame({ packs_per_day: 2 });
  const pack = await aPack(api, game);
  const user = await api.aUser();
  const buyer = await api.as(user);
  const paying = (key: string) => ({
    params: { game_id: game.id, token_pack_id: pack.id },
    body: { idempotent_key: key },
  });
  const failed = (await buyer.call(buyTokenPack, paying('declined'))).body;
  await choose(api, failed.checkout_url, 'decline');
  const answers = await Promise.all(['a', 'b', 'c'].map((key) => buyer.call(buyTokenPack, paying(key))));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 422]);
  const accepted = { type: 3, terms_accepted: true, refund_accepted: true };
  await buyer.refused(purchase, { ...order(0), body: { idempotent_key: 'mod', ...accepted } }, 422, 900_008);
  assert.deepEqual(await refusalsOf(user.id), ['packs-of-user']);
  const begun = ['a', 'b', 'c'][answers.findIndex(({ status }) => status === 200)]!;
  assert.equal((await buyer.call(buyTokenPack, paying(begun))).status, 200, 'a repeated request is no new payment');
  api.clock.advance(24 * HOUR);
  assert.equal((await buyer.call(buyTokenPack, paying('tomorrow'))).status, 200);
});

test('payments from one address are limited, also those that fail', async () => {
  const { game } = await aGuardedGame({ payments_per_hour_and_address: 2 });
  const pack = await aPack(api, game);
  const input = { params: { game_id: game.id, token_pack_id: pack.id }, body: { idempotent_key: 'card' } };
  for (const _ of ['first', 'second']) await buyPack(api, await api.as(await api.aUser()), game, pack, 'decline');
  const third = await api.as(await api.aUser());
  await third.refused(buyTokenPack, input, 422, 900_008);
  api.clock.advance(HOUR);
  assert.equal((await third.call(buyTokenPack, input)).status, 200);
});

test('a new sign-in to an older account spends nothing yet, and an old one spends nothing any more', async () => {
  const { game, order } = await aGuardedGame({ sign_in_hours_min: 24, sign_in_hours_max: 48 });
  const { user, buyer } = await aBuyer(api, game);
  assert.equal((await buyer.call(purchase, order(0))).status, 200);
  api.clock.advance(30 * HOUR);
  const elsewhere = await api.as(user);
  const wallet = { query: { game_id: game.id } };
  await elsewhere.refused(purchase, order(1), 422, 900_008);
  await elsewhere.refused(getUserWallet, wallet, 422, 900_008);
  assert.equal((await buyer.call(getUserWallet, wallet)).status, 200);
  assert.equal((await buyer.call(purchase, order(1))).status, 200);
  api.clock.advance(24 * HOUR);
  await buyer.refused(purchase, order(2), 422, 900_002);
  await buyer.refused(getUserWallet, wallet, 422, 900_002);
  assert.equal((await elsewhere.call(getUserWallet, wallet)).status, 200);
  assert.equal((await elsewhere.call(purchase, order(2))).status, 200);
  assert.deepEqual((await refusalsOf(user.id)).sort(), ['new-sign-in', 'old-sign-in']);
});

test('a game can ask for a confirmed mail address before there is a wallet', async () => {
  const { game, order } = await aGuardedGame({ verified_only: true });
  const guest = await api.as(await api.aUser());
  await guest.refused(getUserWallet, { query: { game_id: game.id } }, 422, 17_034);
  await guest.refused(purchase, order(0), 422, 900_007);
  const buyer = await api.as(await api.aUser({ email: `${api.unique('ada')}@example.org` }));
  await buyPack(api, buyer, game, await aPack(api, game));
  assert.equal((await buyer.call(purchase, order(0))).status, 200);
});

test('a user who is locked out of the marketplace gets the reason instead of a wallet', async () => {
  const { game } = await aGuardedGame({});
  const { user, buyer } = await aBuyer(api, game);
  const decide = (is_locked: boolean) =>
    staff.call(decideMarketplaceLock, { params: { user_id: user.id }, body: { is_locked, reason: 'Stolen cards' } });
  await decide(true);
  await buyer.refused(getUserWallet, { query: { game_id: game.id } }, 422, 900_007);
  await decide(false);
  assert.equal((await walletOf(buyer, game)).balance, 100);
});

test('two users who buy from each other are refused, where the game says so', async () => {
  const { game, offers, order } = await aGuardedGame({ circular_trade_days: 30 });
  const [one, two] = offers.map(({ author }) => author);
  for (const author of [one!, two!]) await buyPack(api, author, game, await aPack(api, game));
  assert.equal((await one!.call(purchase, order(1))).status, 200);
  await two!.refused(purchase, order(0), 422, 900_001);
  assert.equal((await two!.call(purchase, order(2))).status, 200);
  assert.deepEqual(await refusalsOf(offers[1]!.mod.owner.id), ['wash-trading']);
});

test('after too many clawbacks a user is locked out, and the log says that they are many', async () => {
  const { game, order } = await aGuardedGame({ clawbacks_to_lock: 2, clawback_storm: 2 });
  const { user, buyer } = await aBuyer(api, game);
  for (const clawbacks of [1, 2]) {
    const payment = await buyPack(api, buyer, game, await aPack(api, game));
    await choose(api, payment.checkout_url, 'dispute');
    await composeWorker(api.app()).runDue();
    const input = { query: { _limit: 100 }, headers: { 'accept-language': 'pl' } };
    const lock = (await staff.call(getMarketplaceLocks, input)).body.data.find(({ user_id }) => user_id === user.id);
    assert.equal(lock?.reason, clawbacks === 2 ? '2 cofnięcia płatności w ciągu dnia' : undefined);
  }
  await buyer.refused(purchase, order(0), 403, 900_015);
  const query = { action: 'games.clawback-storm', resource_id: game.id };
  assert.equal((await staff.call(getAudit, { query })).body.data.length, 1);
});
