import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, type Game, startApi, type User } from '../../../test/api.ts';
import { mailsTo } from '../../../test/mails.ts';
import { composeWorker } from '../../composition/compose.ts';
import { deleteGameOperation, editGameOperation, getGame, getUserGames } from '../games/operations.ts';
import { OPEN_PER_PERSON_MAX, OPEN_PER_TEAM_MAX, PER_HOUR_MAX } from './invites.ts';
import {
  acceptTeamInvite,
  addGameTeamMember,
  declineTeamInvite,
  deleteGameTeamMember,
  getGameTeamMembers,
  getTeamInvites,
  updateGameTeamMember,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

const at = (game: Game) => ({ game_id: game.id });
const seatAt = (game: Game, id: number) => ({ ...at(game), team_member_id: id });
const anAddress = () => `${api.unique('player').replace(' ', '-')}@example.org`;

async function seatOf(game: Game, user: { id: number }): Promise<number> {
  const query = { user_id: user.id };
  return (await api.withKey(game).call(getGameTeamMembers, { params: at(game), query })).body.data[0]!.id;
}

async function aMember(game: Game, level: number): Promise<{ user: User; client: Client; seat: number }> {
  const user = await api.aUser({ email: anAddress() });
  await api.joins(user, game, level);
  return { user, client: await api.as(user), seat: await seatOf(game, user) };
}

async function invite(client: Client, game: Game, email: string, level = 1): Promise<number> {
  const answer = await client.call(addGameTeamMember, { params: at(game), body: { email, level } });
  assert.equal(answer.status, 201, answer.text);
  return answer.body.id;
}

const change = (client: Client, game: Game, id: number, body: Record<string, string | number | boolean>) =>
  client.call(updateGameTeamMember, { params: seatAt(game, id), body });

test('an invited user becomes a member of a game’s team by accepting, and can edit the game then', async () => {
  const game = await api.aGame({ accepted: false });
  const owner = await api.as(game.owner);
  const email = anAddress();
  const bob = await api.as(await api.aUser({ email }));
  await bob.refused(getGame, { params: at(game) }, 404, 14001);
  const invite_id = await invite(owner, game, email, 4);
  const [open] = (await bob.call(getTeamInvites)).body.data;
  assert.deepEqual(
    [open?.id, open?.game_id, open?.game_name, open?.mod_id, open?.mod_name, open?.invited_by.id],
    [invite_id, game.id, game.name, 0, '', game.owner.id],
  );
  const { body } = await bob.call(acceptTeamInvite, { params: { invite_id } });
  assert.deepEqual([body.level, body.invite_pending], [4, 0]);
  assert.equal((await bob.call(getGame, { params: at(game) })).status, 200);
  assert.equal((await bob.call(editGameOperation, { params: at(game), body: { summary: 'Ours' } })).status, 200);
  assert.equal((await bob.call(getUserGames, { query: { id: game.id } })).body.result_total, 1);
});

test('the mail of the invitation names the game', async () => {
  const game = await api.aGame({ name: 'Sky Smith' });
  const email = anAddress();
  await invite(await api.as(game.owner), game, email);
  await composeWorker(api.app()).runDue();
  const [mail] = mailsTo(api, email);
  assert.equal(mail?.subject, 'Invitation to the team of a game');
  assert.match(mail.text, /team of the game “Sky Smith”/);
});

test('the teams of a game and of a mod with the same id are separate', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const { user } = await aMember(game, 4);
  await api.joinsMod(user, mod, 1);
  const { body } = await api.withKey(game).call(getGameTeamMembers, { params: at(game) });
  assert.deepEqual(
    body.data.map((seat) => [seat.user.id, seat.level]),
    [
      [game.owner.id, 8],
      [user.id, 4],
    ],
  );
});

test('members of a game’s team cannot be invited, and nobody can be invited twice', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const email = anAddress();
  const bob = await api.aUser({ email });
  const invite_id = await invite(owner, game, email);
  await owner.refused(addGameTeamMember, { params: at(game), body: { email, level: 4 } }, 400, 14034);
  await api.joins(bob, game, 1);
  await owner.refused(addGameTeamMember, { params: at(game), body: { email, level: 4 } }, 400, 14032);
  await (await api.as(bob)).refused(acceptTeamInvite, { params: { invite_id } }, 400, 14032);
});

test('managers invite up to their own level; moderators and users outside the team cannot invite', async () => {
  const game = await api.aGame();
  const manager = (await aMember(game, 4)).client;
  await invite(manager, game, anAddress(), 4);
  await manager.refused(addGameTeamMember, { params: at(game), body: { email: anAddress(), level: 8 } }, 403, 17017);
  for (const client of [(await aMember(game, 1)).client, await api.as(await api.aUser())])
    await client.refused(addGameTeamMember, { params: at(game), body: { email: anAddress(), level: 1 } }, 403, 14002);
});

test('open invitations are limited per game and per user, and sent ones per hour', async () => {
  const owner = await api.aUser();
  const client = await api.as(owner);
  const [first, second, third] = [await api.aGame({ owner }), await api.aGame({ owner }), await api.aGame({ owner })];
  const body = { email: anAddress(), level: 1 };
  for (let i = 0; i < OPEN_PER_TEAM_MAX; i += 1) await invite(client, first, anAddress());
  await client.refused(addGameTeamMember, { params: at(first), body }, 403, 14033);
  for (let i = OPEN_PER_TEAM_MAX; i < PER_HOUR_MAX; i += 1) await invite(client, second, anAddress());
  await client.refused(addGameTeamMember, { params: at(second), body }, 429, 23107);
  api.clock.advance(3_601);
  for (let i = PER_HOUR_MAX; i < OPEN_PER_PERSON_MAX; i += 1) await invite(client, second, anAddress());
  await client.refused(addGameTeamMember, { params: at(third), body }, 403, 23106);
});

test('only the recipient answers an invitation, once, and it ends with its game', async () => {
  const game = await api.aGame({ accepted: false });
  const owner = await api.as(game.owner);
  const email = anAddress();
  const bob = await api.as(await api.aUser({ email }));
  const first = await invite(owner, game, email);
  await (await api.as(await api.aUser())).refused(acceptTeamInvite, { params: { invite_id: first } }, 404, 23105);
  assert.equal((await bob.call(declineTeamInvite, { params: { invite_id: first } })).status, 204);
  await bob.refused(acceptTeamInvite, { params: { invite_id: first } }, 400, 23103);
  const second = await invite(owner, game, email);
  await owner.call(deleteGameOperation, { params: at(game) });
  assert.equal((await bob.call(getTeamInvites)).body.result_total, 0);
  await bob.refused(acceptTeamInvite, { params: { invite_id: second } }, 404, 23105);
});

test('only managers of the game list its open invitations', async () => {
  const game = await api.aGame();
  const email = anAddress();
  await invite(await api.as(game.owner), game, email);
  const pending = async (client: Client) =>
    (await client.call(getGameTeamMembers, { params: at(game), query: { pending: 1 } })).body.data;
  assert.deepEqual(
    (await pending((await aMember(game, 4)).client)).map(({ user }) => user.username),
    [email],
  );
  for (const client of [(await aMember(game, 1)).client, api.withKey(game)])
    assert.deepEqual(await pending(client), []);
});

test('managers change and remove members below their level only', async () => {
  const game = await api.aGame();
  const [moderator, manager, other] = [await aMember(game, 1), await aMember(game, 4), await aMember(game, 4)];
  assert.equal((await change(manager.client, game, moderator.seat, { position: 'Judge' })).body.position, 'Judge');
  await manager.client.refused(
    updateGameTeamMember,
    { params: seatAt(game, moderator.seat), body: { level: 8 } },
    403,
    17017,
  );
  await manager.client.refused(deleteGameTeamMember, { params: seatAt(game, other.seat) }, 403, 23108);
  const params = seatAt(game, manager.seat);
  await moderator.client.refused(updateGameTeamMember, { params, body: { level: 1 } }, 403, 14002);
  await moderator.client.refused(deleteGameTeamMember, { params }, 403, 14002);
  assert.equal((await manager.client.call(deleteGameTeamMember, { params: seatAt(game, moderator.seat) })).status, 204);
});

test('a game always has a leader and an administrator, and only the leader transfers it', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const own = seatAt(game, await seatOf(game, game.owner));
  await owner.refused(updateGameTeamMember, { params: own, body: { level: 4 } }, 400, 23010);
  await owner.refused(deleteGameTeamMember, { params: own }, 400, 23010);
  const [heir, manager] = [await aMember(game, 8), await aMember(game, 4)];
  const invited = await invite(owner, game, anAddress(), 8);
  await owner.refused(updateGameTeamMember, { params: own, body: { level: 4 } }, 400, 23011);
  await owner.refused(updateGameTeamMember, { params: own, body: { leader: false } }, 400, 23012);
  await owner.refused(deleteGameTeamMember, { params: own }, 400, 23012);
  await owner.refused(updateGameTeamMember, { params: own, body: { level: 8 } }, 400, 23104);
  await heir.client.refused(deleteGameTeamMember, { params: own }, 403, 23101);
  const body = { leader: true };
  await heir.client.refused(updateGameTeamMember, { params: seatAt(game, heir.seat), body }, 403, 23101);
  await owner.refused(updateGameTeamMember, { params: seatAt(game, manager.seat), body }, 400, 23011);
  await owner.refused(updateGameTeamMember, { params: seatAt(game, invited), body }, 400, 23013);
  assert.equal((await change(owner, game, heir.seat, body)).status, 200);
  assert.equal((await owner.call(getGame, { params: at(game) })).body.submitted_by.id, heir.user.id);
  assert.equal((await owner.call(deleteGameTeamMember, { params: own })).status, 204);
});

test('when a leader transfers the game while the new leader leaves, one of the two requests fails', async () => {
  const game = await api.aGame();
  const owner = await api.as(game.owner);
  const heir = await aMember(game, 8);
  const answers = await Promise.all([
    change(owner, game, heir.seat, { leader: true }),
    heir.client.call(deleteGameTeamMember, { params: seatAt(game, heir.seat) }),
  ]);
  assert.equal(answers.filter(({ status }) => status < 300).length, 1);
});

test('a user who leaves the team of a hidden game, or is removed from it, cannot see it any more', async () => {
  const game = await api.aGame({ accepted: false });
  const [leaver, removed] = [await aMember(game, 1), await aMember(game, 1)];
  // A second team gives the user a visibility class of their own, whose responses are cached.
  const elsewhere = await api.aGame();
  for (const { user, client } of [leaver, removed]) {
    await api.joins(user, elsewhere, 1);
    assert.equal((await client.call(getGame, { params: at(game) })).status, 200);
  }
  await leaver.client.call(deleteGameTeamMember, { params: seatAt(game, leaver.seat) });
  await (await api.as(game.owner)).call(deleteGameTeamMember, { params: seatAt(game, removed.seat) });
  for (const { client } of [leaver, removed]) {
    await client.refused(getGame, { params: at(game) }, 404, 14001);
    await client.refused(getGameTeamMembers, { params: at(game) }, 404, 14001);
  }
});
