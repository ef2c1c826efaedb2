import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Mod, startApi, type User } from '../../../test/api.ts';
import { aBuyer, aPaidMod, aSellingGame, type SellingGame } from '../../../test/money.ts';
import { addModDependencies } from '../../catalogue/dependencies/operations.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { editModByPut, getMod, getMods } from '../../catalogue/mods/operations.ts';
import {
  addCollectionOperation,
  getCollectionMods,
  updateCollectionOperation,
} from '../../community/collections/operations.ts';
import { acceptAgreement, getCurrentAgreement } from '../../people/agreements/operations.ts';
import { AGREEMENT_TYPES } from '../../people/agreements/types.ts';
import { getNotifications } from '../../people/notifications/operations.ts';
import { getGameAudit } from '../../studio/audit/operations.ts';
import { decideMarketplaceLock, getMarketplaceLocks } from '../marketplace-locks/operations.ts';
import { registerSellerAccount } from '../partners/operations.ts';
import { buyTokenPack } from '../payments/operations.ts';
import { purchase } from '../purchases/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import {
  decideMarketplaceSubmission,
  getMarketplaceQueue,
  getMarketplaceSubmission,
  submitModToMarketplace,
} from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const staff = await api.aUser({ admin: true });
const MARKETPLACE = 2;

const withQueue = (game: SellingGame) =>
  game.studio.call(editGameOperation, { params: { game_id: game.id }, body: { curation_option: 1 } });
const setTerms = (game: SellingGame, body: Record<string, boolean>) =>
  game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body });

/** A mod with a price that is not on the marketplace yet. */
async function aDraft() {
  const game = await aSellingGame(api);
  const draft = await aPaidMod(api, game, { monetization_options: 1 });
  await withQueue(game);
  const shown = async () => (await draft.author.call(getMod, { params: draft.params })).body;
  const decide = (status: 'approved' | 'declined', reason?: string) =>
    game.studio.call(decideMarketplaceSubmission, { params: draft.params, body: { status, reason } });
  const submit = async () => (await draft.author.call(submitModToMarketplace, { params: draft.params })).body;
  return { game, ...draft, shown, decide, submit };
}

async function acceptSelling(user: User) {
  const seller = await api.as(user);
  const inForce = { params: { agreement_type_id: AGREEMENT_TYPES.MONETIZATION } };
  const { id } = (await seller.call(getCurrentAgreement, inForce)).body;
  await seller.call(acceptAgreement, { body: { agreement_version_id: id } });
  return seller;
}

test('a mod that begins to sell leaves all collections, also one that it is being added to', async () => {
  const game = await aSellingGame(api);
  const curator = await api.as(await api.aUser());
  const [free, mod, contested] = [await api.aMod({ game }), await api.aMod({ game }), await api.aMod({ game })];
  const inGame = { game_id: game.id };
  const body = { name: 'Hats', mod_ids: [free.id, mod.id] };
  const { id: collection_id } = (await curator.call(addCollectionOperation, { params: inGame, body })).body;
  const at = { ...inGame, collection_id };
  const listed = async () =>
    (await curator.call(getCollectionMods, { params: at })).body.data.map(({ id }) => id).sort((a, b) => a - b);
  const sell = async (sold: Mod) => {
    const offer = { price: 40, monetization_options: 1 | MARKETPLACE };
    return (await api.as(sold.owner)).call(editModByPut, { params: { ...inGame, mod_id: sold.id }, body: offer });
  };
  assert.deepEqual(await listed(), [free.id, mod.id]);
  assert.equal((await sell(mod)).status, 200);
  assert.deepEqual(await listed(), [free.id]);
  await curator.refused(updateCollectionOperation, { params: at, body: { mod_ids: [mod.id] } }, 400, 29_604);
  const [sold, added] = await Promise.all([
    sell(contested),
    curator.call(updateCollectionOperation, { params: at, body: { mod_ids: [contested.id] } }),
  ]);
  assert.equal(sold.status, 200);
  assert.ok([200, 400].includes(added.status), added.text);
  assert.deepEqual(await listed(), [free.id]);
});

test('a mod is submitted to the marketplace queue, its price is ignored meanwhile, and an approval sells it', async () => {
  const { game, mod, params, author, shown, decide, submit } = await aDraft();
  const { buyer } = await aBuyer(api, game);
  const body = { idempotent_key: 'key' };
  await author.refused(editModByPut, { params, body: { monetization_options: 3 } }, 422, 900_045);
  assert.equal((await submit()).status, 'queued');
  assert.equal((await submit()).status, 'queued');
  assert.equal((await author.call(editModByPut, { params, body: { price: 70 } })).body.price, 40);
  await buyer.refused(purchase, { params, body }, 422, 900_021);
  await buyer.refused(getMarketplaceSubmission, { params }, 404, 14_000);
  await buyer.refused(getMarketplaceQueue, { params }, 403, 29_500);
  await author.refused(decideMarketplaceSubmission, { params, body: { status: 'approved' } }, 403, 29_500);
  const queue = async () => (await game.studio.call(getMarketplaceQueue, { params })).body.data;
  assert.deepEqual(
    (await queue()).map(({ mod_id, price }) => [mod_id, price]),
    [[mod.id, 40]],
  );
  assert.equal((await decide('approved', 'Well made')).status, 200);
  assert.equal((await decide('approved')).status, 400);
  assert.deepEqual(await queue(), []);
  assert.equal((await shown()).monetization_options, 1 | MARKETPLACE);
  assert.equal((await author.call(editModByPut, { params, body: { price: 70 } })).body.price, 70);
  assert.equal((await buyer.call(purchase, { params, body: { ...body, display_amount: 70 } })).status, 200);
});

test('a mod is declined with a reason that the author reads, is notified of, and the log holds', async () => {
  const { game, mod, params, author, shown, decide, submit } = await aDraft();
  await submit();
  await game.studio.refused(decideMarketplaceSubmission, { params, body: { status: 'declined' } }, 422, 13_009);
  await decide('declined', 'The logo is not yours');
  const { status, reason } = (await author.call(getMarketplaceSubmission, { params })).body;
  assert.deepEqual([status, reason], ['declined', 'The logo is not yours']);
  const kinds = (await author.call(getNotifications)).body.data.map(({ kind, resource_id }) => [kind, resource_id]);
  assert.deepEqual(kinds[0], ['marketplace_declined', mod.id]);
  const logged = (await game.studio.call(getGameAudit, { params })).body.data.at(-1);
  assert.deepEqual([logged?.action, logged?.reason], ['mods.marketplace-decline', 'The logo is not yours']);
  await author.refused(editModByPut, { params, body: { monetization_options: 3 } }, 422, 900_045);
  await submit();
  await decide('approved');
  await decide('declined', 'Complaints');
  assert.equal((await shown()).monetization_options, 1);
  await submit();
  await author.call(editModByPut, { params, body: { price: 0, monetization_options: 0 } });
  assert.equal((await author.call(getMarketplaceSubmission, { params })).body.status, 'none');
  await author.refused(submitModToMarketplace, { params }, 403, 900_014);
});

test('a user who is locked out buys nothing, and nobody buys from them', async () => {
  const game = await aSellingGame(api);
  const { mod, params, author } = await aPaidMod(api, game);
  const { user, buyer } = await aBuyer(api, game);
  const administrator = await api.as(staff);
  const lock = (user_id: number, is_locked: boolean) =>
    administrator.call(decideMarketplaceLock, { params: { user_id }, body: { is_locked, reason: 'Chargebacks' } });
  const body = { idempotent_key: 'key' };
  await lock(user.id, true);
  await buyer.refused(purchase, { params, body }, 403, 900_015);
  await buyer.refused(buyTokenPack, { params: { game_id: game.id, token_pack_id: 1 }, body }, 404, 14_000);
  const locks = (await administrator.call(getMarketplaceLocks)).body.data;
  assert.equal(locks.find(({ user_id }) => user_id === user.id)?.reason, 'Chargebacks');
  await buyer.refused(getMarketplaceLocks, {}, 403, 17_012);
  await lock(user.id, false);
  await lock(mod.owner.id, true);
  await buyer.refused(purchase, { params, body }, 403, 900_015);
  await author.refused(editModByPut, { params, body: { price: 50 } }, 403, 900_015);
  await lock(mod.owner.id, false);
  assert.equal((await buyer.call(purchase, { params, body })).status, 200);
});

test('a game can ask sellers for the agreement and for a PayPal account', async () => {
  const game = await aSellingGame(api);
  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  const offer = { params, body: { price: 40, monetization_options: 3 } };
  await setTerms(game, { seller_agreement: true, sellers_need_paypal: true });
  await (await api.as(mod.owner)).refused(editModByPut, offer, 403, 900_044);
  const seller = await acceptSelling(mod.owner);
  await seller.refused(editModByPut, offer, 400, 15_046);
  const details = { legal_name: 'Ada Lovelace', country: 'GB', payout_details: 'paypal: ada@example.org' };
  await seller.call(registerSellerAccount, { body: details });
  assert.equal((await seller.call(editModByPut, offer)).body.price, 40);
});

test('a mod with dependencies or dependants is not sold, and buyers resell only where the game allows trade', async () => {
  const game = await aSellingGame(api);
  const [mod, needed] = [await api.aMod({ game }), await api.aMod({ game })];
  const params = { game_id: game.id, mod_id: mod.id };
  const author = await api.as(mod.owner);
  const offer = { price: 40, monetization_options: 3 };
  await author.call(addModDependencies, { params, body: { dependencies: [needed.id] } });
  await author.refused(editModByPut, { params, body: offer }, 400, 15_061);
  const theirs = { game_id: game.id, mod_id: needed.id };
  await (await api.as(needed.owner)).refused(editModByPut, { params: theirs, body: offer }, 400, 15_061);
  const { params: sold, author: seller } = await aPaidMod(api, game);
  await seller.refused(editModByPut, { params: sold, body: { credit_options: 1_024 } }, 400, 15_048);
  await game.studio.call(editGameOperation, { params, body: { revenue_options: 4 } });
  assert.equal((await seller.call(editModByPut, { params: sold, body: { credit_options: 1_024 } })).status, 200);
});

test('the list of a game that sells has free mods, and paid ones where they are asked for', async () => {
  const game = await aSellingGame(api);
  const free = await api.aMod({ game });
  const { mod: paid } = await aPaidMod(api, game);
  const listed = async (query: Record<string, string | number>) =>
    (await game.studio.call(getMods, { params: { game_id: game.id }, query })).body.data.map(({ id }) => id);
  assert.deepEqual(await listed({}), [free.id]);
  assert.deepEqual(await listed({ revenue_type: 0 }), [free.id]);
  assert.deepEqual(await listed({ revenue_type: 1 }), [paid.id]);
  assert.deepEqual(await listed({ revenue_type: 2 }), [free.id, paid.id]);
  assert.deepEqual(await listed({ revenue_type: 3 }), [free.id, paid.id]);
  assert.deepEqual(await listed({ 'id-in': `${free.id},${paid.id}` }), [free.id]);
  assert.deepEqual(await listed({ status: 1 }), [free.id, paid.id], 'whoever filters by state sees all');
});

test('a stranger prices nothing, and where a game limits every mod, none is sold without a stock', async () => {
  const LIMITS_ALL = 16;
  const LIMITED = 8;
  const game = await aSellingGame(api, 1 | 2 | LIMITS_ALL);
  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  await api.aFile(mod);
  const author = await api.as(mod.owner);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(submitModToMarketplace, { params }, 403, 15_017);
  const offer = { monetization_options: 1 | MARKETPLACE, price: 40 };
  await author.refused(editModByPut, { params, body: offer }, 400, 15_018);
  const limited = { ...offer, monetization_options: 1 | MARKETPLACE | LIMITED, stock: 3 };
  assert.equal((await author.call(editModByPut, { params, body: limited })).body.stock, 3);
});
