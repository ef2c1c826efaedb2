import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi, type User } from '../../../test/api.ts';
import {
  acceptSellingTerms,
  aPack,
  aSellingGame,
  buyPack,
  choose,
  SELLER_DETAILS as DETAILS,
  registerAsSeller,
} from '../../../test/money.ts';
import { editModByPut } from '../../catalogue/mods/operations.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { deleteAUser, mergeOwnAccount } from '../../signin/accounts/operations.ts';
import { purchase } from '../purchases/operations.ts';
import { createRevenueTeam } from '../revenue-teams/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import {
  applyForPartnership,
  decideGamePartner,
  decideSellerAccount,
  getGamePartners,
  getSellerAccount,
  getSellerAccounts,
  registerSellerAccount,
} from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const DAY = 86_400;
const SELLS_BY_PARTNERS = 1 | 2 | 4;
const staff = await api.aUser({ admin: true });

/** A client of a user who has accepted the agreement on selling. */
async function asSeller(user: User) {
  const seller = await api.as(user);
  await acceptSellingTerms(seller);
  return seller;
}

async function register(user: User, status: 'action' | 'approved' | 'rejected' = 'approved') {
  await registerAsSeller(await api.as(user));
  const decision = { params: { user_id: user.id }, body: { status, reason: 'Checked' } };
  return (await api.as(staff)).call(decideSellerAccount, decision);
}

const statusOf = async (user: User) => (await (await api.as(user)).call(getAuthenticatedUser)).body.monetization_status;

test('a seller accepts the agreement and registers once, staff decides, and only the two read the details', async () => {
  const user = await api.aUser();
  await (await api.as(user)).refused(registerSellerAccount, { body: DETAILS }, 403, 900_044);
  const seller = await asSeller(user);
  await seller.refused(getSellerAccount, {}, 404, 14_000);
  await seller.call(registerSellerAccount, { body: DETAILS });
  assert.equal(await statusOf(user), 1);
  await seller.refused(registerSellerAccount, { body: DETAILS }, 422, 900_004);
  const administrator = await api.as(staff);
  const params = { user_id: user.id };
  const listed = (await administrator.call(getSellerAccounts, { query: { status: 'pending' } })).body.data;
  assert.equal(listed.find(({ user_id }) => user_id === user.id)?.payout_details, DETAILS.payout_details);
  await seller.refused(getSellerAccounts, {}, 403, 17_012);
  await administrator.call(decideSellerAccount, { params, body: { status: 'action', reason: 'The IBAN is wrong' } });
  assert.equal(await statusOf(user), 8);
  await seller.call(registerSellerAccount, { body: { ...DETAILS, payout_details: 'GB82 WEST 1234 5698 7654 32' } });
  await administrator.call(decideSellerAccount, { params, body: { status: 'approved' } });
  assert.equal(await statusOf(user), 16);
  const row = await api
    .app()
    .db.query.selectFrom('seller_accounts')
    .selectAll()
    .where('user_id', '=', user.id)
    .execute();
  assert.doesNotMatch(JSON.stringify(row), /WEST|Lovelace/);
});

test('where a game has a partner programme only partners sell, by its criteria or by its team', async () => {
  const game = await aSellingGame(api, SELLS_BY_PARTNERS);
  const params = { game_id: game.id };
  const mod = await api.aMod({ game, owner: await api.aUser({ email: 'author@example.org' }) });
  await api.aFile(mod);
  const author = await api.as(mod.owner);
  const offer = { params: { ...params, mod_id: mod.id }, body: { price: 10, monetization_options: 3 } };
  await author.refused(editModByPut, offer, 403, 900_041);
  await author.refused(applyForPartnership, { params }, 403, 900_046);
  await register(mod.owner);
  const terms = (body: object) => game.studio.call(editGameSellingTerms, { params, body: { ...body } });
  await terms({ partner_mods_min: 2 });
  await author.refused(applyForPartnership, { params }, 403, 900_040);
  await terms({ partner_mods_min: 1, partner_invited_only: true });
  await author.refused(applyForPartnership, { params }, 403, 900_042);
  const decide = (status: 'invited' | 'approved' | 'rejected', reason = '') =>
    game.studio.call(decideGamePartner, { params: { ...params, user_id: mod.owner.id }, body: { status, reason } });
  await decide('invited');
  assert.equal((await author.call(applyForPartnership, { params })).body.status, 'applied');
  await decide('rejected', 'Not yet');
  await author.refused(applyForPartnership, { params }, 403, 900_043);
  await author.refused(editModByPut, offer, 403, 900_041);
  await terms({ partner_invited_only: false, partner_review: false });
  api.clock.advance(30 * DAY);
  const later = await api.as(mod.owner);
  assert.equal((await later.call(applyForPartnership, { params })).body.status, 'approved');
  assert.equal(await statusOf(mod.owner), 16 | 32);
  assert.equal((await later.call(editModByPut, offer)).status, 200);
  const studio = await api.as(game.owner);
  const { data } = (await studio.call(getGamePartners, { params })).body;
  assert.deepEqual(
    data.map(({ user_id, status }) => [user_id, status]),
    [[mod.owner.id, 'approved']],
  );
  const open = await aSellingGame(api);
  await later.refused(applyForPartnership, { params: { game_id: open.id } }, 422, 900_005);
  const unknown = { params: { ...params, user_id: (await api.aUser()).id }, body: { status: 'approved' as const } };
  await studio.refused(decideGamePartner, unknown, 403, 900_046);
});

test('who was rejected as a seller, or owes tokens, does not join a revenue team', async () => {
  const game = await aSellingGame(api);
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  const leader = await api.as(mod.owner);
  const params = { game_id: game.id, mod_id: mod.id };
  await leader.call(editModByPut, { params, body: { price: 10, monetization_options: 3 } });
  const [rejected, owing] = [await api.aUser(), await api.aUser()];
  await register(rejected, 'rejected');
  const buyer = await api.as(owing);
  const { checkout_url } = await buyPack(api, buyer, game, await aPack(api, game));
  await buyer.call(purchase, { params, body: { idempotent_key: 'first' } });
  await choose(api, checkout_url, 'dispute');
  const all = ({ id }: User) => ({ params, body: { 'users[0][id]': id, 'users[0][split]': 100 } as never });
  await leader.refused(createRevenueTeam, all(rejected), 422, 900_003);
  await leader.refused(createRevenueTeam, all(owing), 422, 900_008);
});

test('an account that sells cannot be merged, and one with tokens cannot be deleted', async () => {
  const seller = await api.aUser();
  await register(seller);
  const other = await api.as(await api.aUser());
  const { token } = await api.as(seller);
  await other.refused(mergeOwnAccount, { body: { access_token: token! } }, 403, 17_043);
  const game = await aSellingGame(api);
  const buyer = await api.aUser();
  await buyPack(api, await api.as(buyer), game, await aPack(api, game));
  await (await api.as(staff)).refused(deleteAUser, { params: { user_id: buyer.id } }, 422, 900_038);
});
