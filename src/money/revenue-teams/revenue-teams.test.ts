import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApi, type User } from '../../../test/api.ts';
import { aPack, aSellingGame, buyPack, type SellingGame, walletOf } from '../../../test/money.ts';
import { editGameOperation } from '../../catalogue/games/operations.ts';
import { editModByPut } from '../../catalogue/mods/operations.ts';
import { deleteModTeamMember, getModTeamMembers } from '../../catalogue/teams/operations.ts';
import { banUser } from '../../moderation/user-bans/operations.ts';
import { setUserStatus, USER_DELETED } from '../../people/users/users.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { getUserPurchases, purchase, refundPurchase } from '../purchases/operations.ts';
import { createRevenueTeam, deleteRevenueTeam, getRevenueTeam, getRevenueTeamHistory } from './operations.ts';
import { divideEarnings } from './revenue-teams.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});

async function aPaidMod(game: SellingGame, price = 100) {
  const mod = await api.aMod({ game });
  await api.aFile(mod);
  const leader = await api.as(mod.owner);
  const params = { game_id: game.id, mod_id: mod.id };
  await leader.call(editModByPut, { params, body: { price, monetization_options: 3 } });
  return { mod, leader, params };
}

async function sold(game: SellingGame, params: { game_id: number; mod_id: number }) {
  const buyer = await api.as(await api.aUser());
  await buyPack(api, buyer, game, await aPack(api, game, { tokens: 1_000 }));
  const answer = await buyer.call(purchase, { params, body: { idempotent_key: api.unique('key') } });
  assert.equal(answer.status, 200, answer.text);
  return buyer;
}

/** The fields of a form that names these users. */
const team = (...shares: readonly [User, number][]) => ({
  body: Object.fromEntries(
    shares.flatMap(([{ id }, split], index) => [
      [`users[${index}][id]`, id],
      [`users[${index}][split]`, split],
    ]),
  ) as never,
});

const pendingOf = async (game: SellingGame, user: User) => (await walletOf(await api.as(user), game)).pending;

test('the leader of a mod earns everything until a team is set, and the history says who earned when', async () => {
  const game = await aSellingGame(api);
  const { mod, leader, params } = await aPaidMod(game);
  const [one, two] = [await api.aUser(), await api.aUser()];
  const alone = (await leader.call(getRevenueTeam, { params })).body.data;
  assert.deepEqual(
    alone.map(({ id, split }) => [id, split]),
    [[mod.owner.id, 100]],
  );
  await sold(game, params);
  assert.equal(await pendingOf(game, mod.owner), 53);
  const set = await leader.call(createRevenueTeam, { params, ...team([mod.owner, 50], [one, 30], [two, 20]) });
  assert.deepEqual(
    set.body.data.map(({ username, split }) => [username, split]),
    [
      [mod.owner.username, 50],
      [one.username, 30],
      [two.username, 20],
    ],
  );
  const buyer = await sold(game, params);
  const earned = async () => [await pendingOf(game, mod.owner), await pendingOf(game, one), await pendingOf(game, two)];
  assert.deepEqual(await earned(), [53 + 28, 15, 10]);
  await leader.call(createRevenueTeam, { params, ...team([two, 100]) });
  await buyer.call(refundPurchase, { params });
  assert.deepEqual(await earned(), [53, 0, 0]);
  await leader.call(deleteRevenueTeam, { params });
  await leader.refused(deleteRevenueTeam, { params }, 422, 900_028);
  const { data } = (await leader.call(getRevenueTeamHistory, { params })).body;
  assert.deepEqual(
    data.map(({ users }) => users.map(({ split }) => split)),
    [[], [100], [50, 30, 20]],
  );
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

test('a team that is not fair is refused, each reason with its own error', async () => {
  const game = await aSellingGame(api);
  const { mod, leader, params } = await aPaidMod(game);
  const users = await Promise.all(Array.from({ length: 5 }, () => api.aUser()));
  const refused = (ref: number, ...shares: readonly [User, number][]) =>
    leader.refused(createRevenueTeam, { params, ...team(...shares) }, 422, ref);
  await refused(900_026, [mod.owner, 99]);
  await refused(900_026, [mod.owner, 101]);
  await refused(900_026, [mod.owner, 100], [users[0]!, 0]);
  await refused(900_029, [mod.owner, 50], ...users.map((each): [User, number] => [each, 10]));
  await refused(900_024, [users[0]!, 50], [users[0]!, 50]);
  const staff = await api.as(await api.aUser({ admin: true }));
  await staff.call(banUser, { params: { user_id: users[1]!.id }, body: { reason: 'Fraud' } });
  await refused(900_025, [mod.owner, 50], [users[1]!, 50]);
  const stranger = await api.as(users[0]!);
  await stranger.refused(getRevenueTeam, { params }, 403, 900_023);
  await game.studio.refused(createRevenueTeam, { params, ...team([game.owner, 100]) }, 403, 900_023);
  const free = await api.aMod({ game });
  const unsold = { game_id: game.id, mod_id: free.id };
  await (await api.as(free.owner)).refused(getRevenueTeam, { params: unsold }, 404, 900_022);
});

test('nobody but the leader lowers the leader’s share, and members who earn stay in the mod’s team', async () => {
  const game = await aSellingGame(api);
  const { mod, leader, params } = await aPaidMod(game);
  const helper = await api.aUser();
  await api.joinsMod(helper, mod, 8);
  const other = await api.as(helper);
  await other.refused(createRevenueTeam, { params, ...team([mod.owner, 99], [helper, 1]) }, 422, 900_027);
  await leader.call(createRevenueTeam, { params, ...team([mod.owner, 60], [helper, 40]) });
  const seats = (await leader.call(getModTeamMembers, { params })).body.data;
  const { id: team_member_id } = seats.find(({ user }) => user.id === helper.id)!;
  const seat = { params: { ...params, team_member_id } };
  await leader.refused(deleteModTeamMember, seat, 403, 15_063);
  await leader.call(createRevenueTeam, { params, ...team([mod.owner, 100]) });
  assert.equal((await leader.call(deleteModTeamMember, seat)).status, 204);
});

test('those who earn with a mod do not buy it, and what a deleted account would earn is the leader’s', async () => {
  const game = await aSellingGame(api);
  const { mod, leader, params } = await aPaidMod(game);
  const helper = await api.aUser();
  await leader.call(createRevenueTeam, { params, ...team([mod.owner, 10], [helper, 90]) });
  const own = { params, body: { idempotent_key: 'own' } };
  await (await api.as(helper)).refused(purchase, own, 422, 900_034);
  await setUserStatus(api.app(), helper.id, USER_DELETED);
  await sold(game, params);
  assert.equal(await pendingOf(game, mod.owner), 53);
});

test('a game that sells nothing has no team whose part authors could divide', async () => {
  const game = await aSellingGame(api);
  const { mod, leader, params } = await aPaidMod(game);
  await game.studio.call(editGameOperation, { params: { game_id: game.id }, body: { monetization_options: 0 } });
  await leader.refused(createRevenueTeam, { params, ...team([mod.owner, 100]) }, 404, 900_022);
});

test('nobody buys a mod whose sellers are all banned, and those who own it keep it', async () => {
  const game = await aSellingGame(api);
  const { mod, leader, params } = await aPaidMod(game);
  const helper = await api.aUser();
  await leader.call(createRevenueTeam, { params, ...team([helper, 100]) });
  const owner = await sold(game, params);
  const staff = await api.as(await api.aUser({ admin: true }));
  const ban = (user: User) => staff.call(banUser, { params: { user_id: user.id }, body: { reason: 'Fraud' } });
  await ban(helper);
  await sold(game, params);
  await ban(mod.owner);
  const buyer = await api.as(await api.aUser());
  await buyPack(api, buyer, game, await aPack(api, game, { tokens: 1_000 }));
  await buyer.refused(purchase, { params, body: { idempotent_key: 'late' } }, 404, 900_022);
  assert.equal((await owner.call(getUserPurchases)).body.data.length, 1);
});

test('what is divided adds up, whatever the shares', () => {
  const share = fc.record({ user_id: fc.integer({ min: 1, max: 9 }), split: fc.integer({ min: 0, max: 20 }) });
  const shares = fc.uniqueArray(share, { maxLength: 5, selector: ({ user_id }) => user_id });
  fc.assert(
    fc.property(shares, fc.integer({ min: 0, max: 1_000_000_000 }), (some, amount) => {
      const all = some.map((each) => ({ ...each, status: 1 }));
      const parts = divideEarnings(all, { submitted_by: 1 }, amount);
      assert.equal(
        parts.reduce((sum, each) => sum + each.amount, 0),
        amount,
      );
      assert.ok(parts.every((each) => each.amount >= 0));
    }),
  );
});
