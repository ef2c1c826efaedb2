import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Mod, startApi } from '../../../test/api.ts';
import {
  aPack,
  aSellingGame,
  aBuyer as buyerOf,
  buyPack,
  choose,
  aPaidMod as paidMod,
  type SellingGame,
  walletOf,
} from '../../../test/money.ts';
import { deleteGameOperation, editGameOperation } from '../../catalogue/games/operations.ts';
import { deleteModOperation, editModByPut, getMod } from '../../catalogue/mods/operations.ts';
import { addCollectionOperation } from '../../community/collections/operations.ts';
import { getUserSubscriptions, subscribeToMod } from '../../community/subscriptions/operations.ts';
import { downloadModfile } from '../../files/downloads/operations.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import { getPurchasesOfUser, getUserPurchases, purchase, refundGamePurchase, refundPurchase } from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const DAY = 86_400;

type Offer = Parameters<typeof paidMod>[2];
const aPaidMod = (game: SellingGame, offer?: Offer) => paidMod(api, game, offer);
const aBuyer = (game: SellingGame, tokens?: number) => buyerOf(api, game, tokens);

const keyOf = (mod: Mod) => ({ idempotent_key: String(mod.id) });
const owned = async (buyer: Client) => (await buyer.call(getUserPurchases)).body.data.map(({ id }) => id);
const sound = async () => assert.deepEqual((await verifyLedger(api.app())).problems, []);

test('a buyer pays with tokens, owns the mod and subscribes to it, and the price is divided', async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(game);
  const { user, buyer } = await aBuyer(game);
  const answer = await buyer.call(purchase, { params, body: { ...keyOf(mod), display_amount: 40 } });
  const { transaction_type, gross_amount, net_amount, platform_fee, balance, meta } = answer.body;
  assert.deepEqual([transaction_type, gross_amount, net_amount, platform_fee, balance], ['PAID', 40, 31, 9, 60]);
  assert.equal(answer.body.mod.id, mod.id);
  assert.equal(meta[0]!.buyer_id, user.id);
  assert.deepEqual(await owned(buyer), [mod.id]);
  const own = await buyer.call(getPurchasesOfUser, { params: { user_id: user.id } });
  assert.deepEqual(
    own.body.data.map(({ id }) => id),
    [mod.id],
  );
  assert.deepEqual(
    (await buyer.call(getUserSubscriptions)).body.data.map(({ id }) => id),
    [mod.id],
  );
  assert.equal((await walletOf(author, game)).pending, 21);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getPurchasesOfUser, { params: { user_id: user.id } }, 403, 17_042);
  await sound();
});

test('the same key replays the response byte for byte, also at once, and buys nothing again', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  const body = { ...keyOf(mod), subscribe: false };
  const answers = await Promise.all([1, 2, 3, 4].map(() => buyer.call(purchase, { params, body })));
  assert.equal(new Set(answers.map(({ text }) => text)).size, 1);
  assert.equal((await walletOf(buyer, game)).balance, 60);
  await buyer.refused(purchase, { params, body: { ...body, subscribe: true } }, 422, 900_001);
  await buyer.refused(purchase, { params, body: { idempotent_key: 'another' } }, 422, 900_034);
  const { buyer: other } = await aBuyer(game);
  assert.equal((await other.call(purchase, { params, body })).status, 200);
  await sound();
});

test('the key may be in the header, as well or alone, and another user’s key is another key', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  const headers = { 'X-Modio-Idempotent-Key': String(mod.id) };
  const query = { ...keyOf(mod), display_amount: 40 };
  const asSdk = await buyer.call(purchase, { params, query, headers });
  assert.equal(asSdk.status, 200, asSdk.text);
  const alone = { params, query: { display_amount: 40 }, headers: { 'X-Service-Idempotent-Key': String(mod.id) } };
  assert.equal((await buyer.call(purchase, alone)).text, asSdk.text);
  const { buyer: other } = await aBuyer(game);
  const theirs = await other.call(purchase, { params, headers });
  assert.deepEqual([theirs.status, theirs.body.balance], [200, 60], theirs.text);
  await other.refused(purchase, { params, query: { display_amount: 40 } }, 422, 13_009);
});

test('a refused checkout leaves nothing behind, and its key can be used again', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(game, { price: 150 });
  const { buyer } = await aBuyer(game);
  const body = keyOf(mod);
  await buyer.refused(purchase, { params, body }, 422, 900_049);
  await buyer.refused(purchase, { params, body: { ...body, display_amount: 149 } }, 422, 900_035);
  await buyer.refused(purchase, { params, body: { ...body, type: 1 } }, 422, 900_098);
  assert.deepEqual(await owned(buyer), []);
  assert.deepEqual((await buyer.call(getUserSubscriptions)).body.data, []);
  await buyPack(api, buyer, game, await aPack(api, game));
  assert.equal((await buyer.call(purchase, { params, body })).body.balance, 50);
});

test('each switch of site, game and mod has its own error', async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  const body = keyOf(mod);
  const set = (offer: NonNullable<Offer>) => author.call(editModByPut, { params, body: { ...offer } });
  await set({ monetization_options: 1 });
  await buyer.refused(purchase, { params, body }, 422, 900_021);
  await set({ price: 0, monetization_options: 0 });
  await buyer.refused(purchase, { params, body }, 403, 900_014);
  await author.refused(editModByPut, { params, body: { price: 5 } }, 403, 900_014);
  const idle = await aSellingGame(api, 0);
  const free = await api.aMod({ game: idle });
  const there = { game_id: idle.id, mod_id: free.id };
  await buyer.refused(purchase, { params: there, body }, 403, 900_013);
  const owner = await api.as(free.owner);
  const offer = { price: 5, monetization_options: 1 };
  await owner.refused(editModByPut, { params: there, body: offer }, 403, 900_013);
  const narrow = await aSellingGame(api, 1);
  const plain = await api.aMod({ game: narrow });
  const asAuthor = await api.as(plain.owner);
  const where = { game_id: narrow.id, mod_id: plain.id };
  await asAuthor.refused(editModByPut, { params: where, body: { ...offer, monetization_options: 3 } }, 422, 900_020);
  await asAuthor.refused(editModByPut, { params: where, body: { ...offer, monetization_options: 9 } }, 400, 15_049);
});

test('a paid mod can be subscribed to and downloaded by its owners only', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  await buyer.refused(subscribeToMod, { params }, 403, 15_002);
  await buyer.refused(downloadModfile, { params }, 422, 900_037);
  await api.withKey(game).refused(downloadModfile, { params }, 401, 11_059);
  await buyer.call(purchase, { params, body: { ...keyOf(mod), subscribe: false } });
  assert.equal((await buyer.call(subscribeToMod, { params })).status, 201);
  assert.equal((await buyer.call(downloadModfile, { params })).status, 200);
});

test('a hidden mod stays visible to those who bought it, and cannot be deleted', async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  await buyer.call(purchase, { params, body: { ...keyOf(mod), subscribe: false } });
  await author.refused(deleteModOperation, { params }, 403, 15_062);
  await author.call(editModByPut, { params, body: { price: 0, monetization_options: 0 } });
  await author.refused(deleteModOperation, { params }, 403, 15_060);
  await author.call(editModByPut, { params, body: { visible: 0 } });
  assert.equal((await buyer.call(getMod, { params })).status, 200);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getMod, { params }, 404, 15_022);
});

test('a mod that is not accepted is not sold to those who see it either', async () => {
  const game = await aSellingGame(api);
  await buyPack(api, game.studio, game, await aPack(api, game));
  const { mod, params } = await aPaidMod(game);
  await game.studio.call(editModByPut, { params, body: { status: 0 } });
  await game.studio.refused(purchase, { params, body: keyOf(mod) }, 403, 15_011);
  await game.studio.call(editModByPut, { params, body: { status: 1 } });
  assert.equal((await game.studio.call(purchase, { params, body: keyOf(mod) })).status, 200);
});

test('authors do not buy from themselves', async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(game);
  await buyPack(api, author, game, await aPack(api, game));
  await author.refused(purchase, { params, body: keyOf(mod) }, 422, 900_034);
});

test('of a limited stock no copy is sold twice, and a returned one is on sale again', async () => {
  const game = await aSellingGame(api, 1 | 2 | 8);
  const { mod, params } = await aPaidMod(game, { monetization_options: 1 | 2 | 8, stock: 3 });
  const buyers = await Promise.all(Array.from({ length: 6 }, () => aBuyer(game)));
  const answers = await Promise.all(buyers.map(({ buyer }) => buyer.call(purchase, { params, body: keyOf(mod) })));
  assert.deepEqual(answers.map(({ status }) => status).sort(), [200, 200, 200, 422, 422, 422]);
  const winner = buyers[answers.findIndex(({ status }) => status === 200)]!.buyer;
  const loser = buyers[answers.findIndex(({ status }) => status === 422)]!.buyer;
  await loser.refused(purchase, { params, body: keyOf(mod) }, 422, 900_061);
  await loser.refused(subscribeToMod, { params }, 403, 15_003);
  await winner.call(refundPurchase, { params });
  assert.equal((await loser.call(purchase, { params, body: keyOf(mod) })).status, 200);
  await sound();
});

test('a returned mod gives the tokens back, ends ownership and subscription, and can be bought again', async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  await buyer.refused(refundPurchase, { params }, 422, 900_033);
  await buyer.call(purchase, { params, body: keyOf(mod) });
  const refund = (await buyer.call(refundPurchase, { params })).body;
  assert.deepEqual([refund.transaction_type, refund.gross_amount], ['REFUNDED', 40]);
  assert.equal((await walletOf(buyer, game)).balance, 100);
  assert.equal((await walletOf(author, game)).pending, 0);
  assert.deepEqual(await owned(buyer), []);
  assert.deepEqual((await buyer.call(getUserSubscriptions)).body.data, []);
  const again = await buyer.call(purchase, { params, body: keyOf(mod) });
  assert.equal(again.body.balance, 60);
  await sound();
});

test('returns end with their days and their number, but the studio may refund longer', async () => {
  const game = await aSellingGame(api);
  const inGame = { game_id: game.id };
  await game.studio.call(editGameSellingTerms, { params: inGame, body: { refunds_per_year: 1 } });
  const [one, two] = [await aPaidMod(game, { price: 10 }), await aPaidMod(game, { price: 10 })];
  const { user, buyer } = await aBuyer(game);
  await buyer.call(purchase, { params: one.params, body: keyOf(one.mod) });
  const bought = (await buyer.call(purchase, { params: two.params, body: keyOf(two.mod) })).body;
  await buyer.call(refundPurchase, { params: one.params });
  await buyer.refused(refundPurchase, { params: two.params }, 422, 900_000);
  api.clock.advance(8 * DAY);
  const [studio, later] = [await api.as(game.owner), await api.as(user)];
  await later.refused(refundPurchase, { params: two.params }, 422, 900_000);
  const params = { ...inGame, purchase_id: bought.transaction_id };
  const body = { reason: 'It never worked' };
  await later.refused(refundGamePurchase, { params, body }, 403, 14_002);
  assert.equal((await studio.call(refundGamePurchase, { params, body })).status, 200);
  await studio.refused(refundGamePurchase, { params, body }, 422, 900_000);
  assert.equal((await walletOf(later, game)).balance, 100);
  await sound();
});

test('a disputed payment whose tokens were spent leaves a deficit, which the next tokens settle', async () => {
  const game = await aSellingGame(api);
  const { mod, params } = await aPaidMod(game);
  const buyer = await api.as(await api.aUser());
  const pack = await aPack(api, game);
  const { checkout_url } = await buyPack(api, buyer, game, pack);
  await buyer.call(purchase, { params, body: keyOf(mod) });
  await choose(api, checkout_url, 'dispute');
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 40, pending: 0 });
  const { params: another } = await aPaidMod(game);
  await buyer.refused(purchase, { params: another, body: { idempotent_key: 'owing' } }, 422, 900_008);
  await buyPack(api, buyer, game, pack);
  assert.deepEqual(await walletOf(buyer, game), { balance: 60, deficit: 0, pending: 0 });
  await sound();
});

test('where a game sells in the game only, a token of the site buys nothing', async () => {
  const game = await aSellingGame(api);
  await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: { in_game_only: true } });
  const { mod, params } = await aPaidMod(game);
  const { user, buyer } = await aBuyer(game);
  await buyer.refused(purchase, { params, body: keyOf(mod) }, 400, 900_074);
  const player = await api.as(user, { gameId: game.id });
  assert.equal((await player.call(purchase, { params, body: keyOf(mod) })).status, 200);
});

test('where the site has no marketplace, games sell tokens but no mods', async () => {
  const closed = await startApi({
    settings: {
      MODSTEAD_JOBS: 'off',
      MODSTEAD_PAYMENTS: 'simulated',
      MODSTEAD_RATE_LIMITS: 'off',
      MODSTEAD_MARKETPLACE: 'off',
    },
  });
  const game = await aSellingGame(closed);
  const { buyer } = await buyerOf(closed, game);
  const mod = await closed.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  const author = await closed.as(mod.owner);
  const offer = { price: 5, monetization_options: 3 };
  await author.refused(editModByPut, { params, body: offer }, 422, 900_019);
  await buyer.refused(purchase, { params, body: keyOf(mod) }, 422, 900_019);
  assert.equal((await walletOf(buyer, game)).balance, 100);
});

test('a paid mod cannot be in a collection, and keeps its game from being deleted', async () => {
  const game = await aSellingGame(api);
  const { mod } = await aPaidMod(game);
  const params = { game_id: game.id };
  const collector = await api.as(await api.aUser());
  const body = { name: 'Best', mod_ids: [mod.id] };
  await collector.refused(addCollectionOperation, { params, body }, 400, 29_604);
  const administrator = await api.as(await api.aUser({ admin: true }));
  await administrator.refused(deleteGameOperation, { params }, 403, 14_017);
});

test('within one game a platform filters the purchases, and the query wins over the header', async () => {
  const game = await aSellingGame(api);
  await (await api.as(game.owner)).call(editGameOperation, {
    params: { game_id: game.id },
    body: { 'platforms[0][platform]': 'windows', 'platforms[1][platform]': 'ps5' },
  });
  const mod = await api.aMod({ game });
  await api.aFile(mod, { platforms: ['ps5'] });
  const params = { game_id: game.id, mod_id: mod.id };
  const offer = { monetization_options: 1 | 2, price: 40 };
  assert.equal((await (await api.as(mod.owner)).call(editModByPut, { params, body: offer })).status, 200);
  const { buyer } = await aBuyer(game);
  assert.equal((await buyer.call(purchase, { params, body: keyOf(mod) })).status, 200);
  const on = async (platforms: string | undefined, header?: string) => {
    const query = { game_id: game.id, ...(platforms && { platforms }) };
    const headers: Record<string, string> = header ? { 'x-modio-platform': header } : {};
    return (await buyer.call(getUserPurchases, { query, headers })).body.data.map(({ id }) => id);
  };
  assert.deepEqual(await on('PLAYSTATION5'), [mod.id]);
  assert.deepEqual(await on('WINDOWS'), []);
  assert.deepEqual(await on(undefined, 'windows'), []);
  assert.deepEqual(await on('ALL', 'windows'), [mod.id]);
  const unknown = await buyer.refused(getUserPurchases, { query: { platforms: 'COMMODORE' } }, 422, 13_009);
  assert.deepEqual(Object.keys(unknown.body.error.errors!), ['platforms']);
});

test('a player with an outdated price gets what shipped clients take for success, once the mod is free', async () => {
  const game = await aSellingGame(api);
  const { author, params } = await aPaidMod(game);
  const { buyer } = await aBuyer(game);
  const order = { params, body: { idempotent_key: 'outdated', display_amount: 40 } };
  await author.call(editModByPut, { params, body: { monetization_options: 0, price: 0 } });
  await buyer.refused(purchase, order, 403, 900_014);
  assert.equal((await buyer.call(subscribeToMod, { params })).status, 201);
  await buyer.refused(purchase, order, 400, 15_004);
  assert.equal((await walletOf(buyer, game)).balance, 100);
});

test('two requests of a buyer at once, with different keys, sell a mod once', async () => {
  const game = await aSellingGame(api);
  const { params } = await aPaidMod(game);
  const { buyer } = await aBuyer(game, 1_000);
  const keys = Array.from({ length: 8 }, (_, index) => `key ${index}`);
  const answers = await Promise.all(
    keys.map((idempotent_key) => buyer.call(purchase, { params, body: { idempotent_key } })),
  );
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  for (const { status, body } of answers.filter((each) => each.status !== 200)) {
    assert.equal(status, 422);
    assert.equal((body as unknown as { error: { error_ref: number } }).error.error_ref, 900_034);
  }
  assert.equal((await walletOf(buyer, game)).balance, 960);
  await sound();
});
