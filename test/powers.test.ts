import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editGameOperation, getGame, getGames, getUserGames } from '../src/catalogue/games/operations.ts';
import {
  deleteModOperation,
  editModOperation,
  getMod,
  getMods,
  getUserMods,
} from '../src/catalogue/mods/operations.ts';
import { addGameTeamMember, addModTeamMember, getTeamInvites } from '../src/catalogue/teams/operations.ts';
import { getMessageThreads } from '../src/community/messages/operations.ts';
import { getUserSubscriptions, subscribeToMod } from '../src/community/subscriptions/operations.ts';
import { getAuthenticatedUser } from '../src/people/users/operations.ts';
import { lockAUser } from '../src/signin/accounts/operations.ts';
import { addOwnKey, addOwnToken, rotateGameKeyOperation } from '../src/signin/credentials/operations.ts';
import { delegationToken, getDelegatingUser } from '../src/signin/oauth/operations.ts';
import { getAudit } from '../src/studio/audit/operations.ts';
import { type Client, type Game, startApi, type User } from './api.ts';
import { aClient, anAppOf, asking, authorizePath, Browser, redeemed, returned, serviceOf } from './browser.ts';

const api = await startApi();
const at = (game: Game) => ({ game_id: game.id });
const TOKEN_MISMATCH = 12004;
const OTHER_GAME = 11104;

let people = 0;
const anAddress = () => `player-${++people}@example.org`;

/** A user who leads two games and has a hidden mod in each. */
async function aLeader() {
  const email = anAddress();
  const user = await api.aUser({ email });
  const games = [await api.aGame({ owner: user }), await api.aGame({ owner: user })] as const;
  const hidden = [
    await api.aMod({ game: games[0], owner: user, accepted: false }),
    await api.aMod({ game: games[1], owner: user, accepted: false }),
  ] as const;
  return { user, email, games, hidden };
}

test('an application cannot add team members to its user’s game or read the game’s key', async () => {
  const { email, games } = await aLeader();
  const [game] = games;
  const client = await aClient(api, { gameId: game.id });
  const browser = new Browser(api);
  const consent = await browser.signIn(authorizePath(asking(client)), email);
  const code = returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
  const app = await redeemed(api, client, code);
  const attacker = anAddress();
  const invitation = { params: at(game), body: { email: attacker, level: 8 } };
  await app.refused(addGameTeamMember, invitation, 403, TOKEN_MISMATCH);
  await app.refused(rotateGameKeyOperation, { params: at(game) }, 403, TOKEN_MISMATCH);
  const invited = await api.as(await api.aUser({ email: attacker }));
  assert.equal((await invited.call(getTeamInvites)).body.result_total, 0);
});

test('an application gets the reason for a refusal', async () => {
  const { user, games } = await aLeader();
  const app = await anAppOf(api, user, games[0]);
  const { text } = await app.call(addGameTeamMember, {
    params: at(games[0]),
    body: { email: 'a@example.org', level: 1 },
  });
  assert.match(text, /application/);
  assert.doesNotMatch(text, /scope/);
});

test('an application acts as a player, without the rights of its user’s team memberships', async () => {
  const { user, games } = await aLeader();
  const [game] = games;
  const [mod, secret] = [await api.aMod({ game }), await api.aMod({ game, accepted: false })];
  const app = await anAppOf(api, user, game, { allGames: true });
  const inMod = { ...at(game), mod_id: mod.id };
  await app.refused(deleteModOperation, { params: inMod }, 403, 15019);
  await app.refused(getMod, { params: { ...at(game), mod_id: secret.id } }, 404, 15022);
  await app.refused(getMods, { params: at(game), query: { 'status-not': 1 } }, 403, 15025);
  const site = await api.as(user);
  assert.equal((await site.call(getMod, { params: { ...at(game), mod_id: secret.id } })).status, 200);
  const own = await api.aMod({ game, owner: user });
  await app.refused(
    addModTeamMember,
    { params: { ...at(game), mod_id: own.id }, body: { email: 'a@example.org', level: 8 } },
    403,
    TOKEN_MISMATCH,
  );
});

test('an application reaches only its own game, unless the user granted more', async () => {
  const { user, games, hidden } = await aLeader();
  const [own, other] = games;
  const bound = await anAppOf(api, user, own);
  const free = await anAppOf(api, user, own, { allGames: true });
  const inOwn = { ...at(own), mod_id: hidden[0].id };
  const inOther = { ...at(other), mod_id: hidden[1].id };
  const body = { summary: 'Better' };
  assert.equal((await bound.call(editModOperation, { params: inOwn, body })).status, 200);
  await bound.refused(editModOperation, { params: inOther, body }, 403, OTHER_GAME);
  await bound.refused(getMod, { params: inOther }, 404, 15022);
  assert.equal((await bound.call(getMods, { params: at(other) })).status, 200);
  assert.equal((await free.call(editModOperation, { params: inOther, body })).status, 200);
  assert.equal((await free.call(getMod, { params: inOther })).status, 200);
  const modsOf = async (client: Client) => (await client.call(getUserMods)).body.data.map(({ id }) => id).sort();
  assert.deepEqual(await modsOf(bound), [hidden[0].id]);
  assert.deepEqual(await modsOf(free), hidden.map(({ id }) => id).sort());
  assert.deepEqual(
    (await bound.call(getUserGames)).body.data.map(({ id }) => id),
    [own.id],
  );
});

test('an application of one game sees neither subscriptions in other games nor private messages', async () => {
  const player = await api.aUser();
  const [own, other] = [await api.aGame(), await api.aGame()];
  const site = await api.as(player);
  for (const game of [own, other]) {
    const mod = await api.aMod({ game });
    await api.aFile(mod);
    await site.call(subscribeToMod, { params: { ...at(game), mod_id: mod.id } });
  }
  const bound = await anAppOf(api, player, own);
  const free = await anAppOf(api, player, own, { allGames: true });
  const total = async (client: Client, query = {}) =>
    (await client.call(getUserSubscriptions, { query })).body.result_total;
  assert.deepEqual([await total(bound), await total(free), await total(bound, { game_id: other.id })], [1, 2, 0]);
  await bound.refused(getMessageThreads, {}, 403, OTHER_GAME);
  assert.equal((await free.call(getMessageThreads)).status, 200);
  assert.equal((await bound.call(getAuthenticatedUser)).body.id, player.id);
});

test('an application’s token cannot be exchanged for one of the user’s own', async () => {
  const { user, games } = await aLeader();
  const app = await anAppOf(api, user, games[0], { allGames: true });
  await app.refused(delegationToken, {}, 403, TOKEN_MISMATCH);
  await app.refused(addOwnToken, { body: { name: 'Mine', scopes: ['read'] } }, 403, TOKEN_MISMATCH);
  await app.refused(addOwnKey, {}, 403, TOKEN_MISMATCH);
});

test('a user who signed in through a game administers that game and no other', async () => {
  const { user, games, hidden } = await aLeader();
  const [own, other] = games;
  const inGame = await api.as(user, { gameId: own.id });
  const body = { summary: 'Better' };
  assert.equal((await inGame.call(editGameOperation, { params: at(own), body })).status, 200);
  await inGame.refused(editGameOperation, { params: at(other), body }, 403, OTHER_GAME);
  const invitation = { email: anAddress(), level: 1 };
  await inGame.refused(addGameTeamMember, { params: at(other), body: invitation }, 403, OTHER_GAME);
  const foreign = await api.aMod({ game: other, accepted: false });
  await inGame.refused(getMod, { params: { ...at(other), mod_id: foreign.id } }, 404, 15022);
  const mine = { ...at(other), mod_id: hidden[1].id };
  assert.equal((await inGame.call(editModOperation, { params: mine, body })).status, 200);
});

test('a hidden game is visible to its team on the site and in that game, but not in another', async () => {
  const leader = await api.aUser();
  const secret = await api.aGame({ owner: leader, accepted: false });
  const other = await api.aGame();
  const [site, inGame, inOtherGame] = [
    await api.as(leader),
    await api.as(leader, { gameId: secret.id }),
    await api.as(leader, { gameId: other.id }),
  ];
  const listed = async (client: Client, operation: typeof getGames | typeof getUserGames) =>
    (await client.call(operation, { query: { id: secret.id } })).body.result_total;
  for (const client of [site, inGame]) {
    assert.equal((await client.call(getGame, { params: at(secret) })).status, 200);
    assert.deepEqual([await listed(client, getGames), await listed(client, getUserGames)], [1, 1]);
  }
  await inOtherGame.refused(getGame, { params: at(secret) }, 404, 14001);
  assert.deepEqual([await listed(inOtherGame, getGames), await listed(inOtherGame, getUserGames)], [0, 0]);
});

test('staff powers need a sign-in on the site', async () => {
  const [owner, player, game] = [await api.aUser({ admin: true }), await api.aUser(), await api.aGame()];
  const inGame = await api.as(owner, { gameId: game.id });
  await inGame.refused(lockAUser, { params: { user_id: player.id } }, 403, TOKEN_MISMATCH);
  await inGame.refused(getAudit, {}, 403, TOKEN_MISMATCH);
  await inGame.refused(editGameOperation, { params: at(game), body: { summary: 'x' } }, 403, 14002);
  await inGame.refused(addOwnToken, { body: { name: 'Mine', scopes: ['read'] } }, 403, TOKEN_MISMATCH);
  const hidden = await api.aMod({ game, accepted: false });
  const params = { ...at(game), mod_id: hidden.id };
  const site = await api.as(owner);
  assert.equal((await site.call(getMod, { params })).status, 200);
  await inGame.refused(getMod, { params }, 404, 15022);
  assert.equal((await site.call(getAudit)).status, 200);
});

const delegationBy = async (user: User, game: Game) => ({
  'X-Modio-Delegation-Token': (await (await api.as(user, { gameId: game.id })).call(delegationToken)).body.token,
});

test('the endpoints for backends accept only a service token', async () => {
  const game = await api.aGame();
  const headers = await delegationBy(await api.aUser(), game);
  const service = await serviceOf(api, game, 'read');
  assert.equal((await service.call(getDelegatingUser, { headers })).status, 200);
  for (const client of [api.withKey(game), api.withKey(await api.aGame()), await api.as(game.owner)])
    await client.refused(getDelegatingUser, { headers }, 401, 11060);
  await api.nobody().refused(getDelegatingUser, { headers }, 401, 11000);
});

test('a service token with the scope read sees what the game’s key sees', async () => {
  const game = await api.aGame({ accepted: false });
  const [shown, hidden] = [await api.aMod({ game }), await api.aMod({ game, accepted: false })];
  const [key, service] = [api.withKey(game), await serviceOf(api, game, 'read')];
  for (const client of [key, service]) {
    assert.equal((await client.call(getGame, { params: at(game) })).status, 200);
    assert.equal((await client.call(getMod, { params: { ...at(game), mod_id: shown.id } })).status, 200);
    await client.refused(getMod, { params: { ...at(game), mod_id: hidden.id } }, 404, 15022);
  }
  const writing = await serviceOf(api, game, 'write');
  await writing.refused(getGame, { params: at(game) }, 403, 11004);
});

test('a service token with the scope update reads the mods that it edits, only in its game', async () => {
  const [game, other] = [await api.aGame(), await api.aGame()];
  const [hidden, foreign] = [
    await api.aMod({ game, accepted: false }),
    await api.aMod({ game: other, accepted: false }),
  ];
  const service = await serviceOf(api, game, 'read,update');
  const params = { ...at(game), mod_id: hidden.id };
  assert.equal((await service.call(getMod, { params })).status, 200);
  assert.equal((await service.call(editModOperation, { params, body: { summary: 'Better' } })).body.summary, 'Better');
  const inOtherGame = { ...at(other), mod_id: foreign.id };
  await service.refused(getMod, { params: inOtherGame }, 404, 15022);
  await service.refused(editModOperation, { params: inOtherGame, body: { summary: 'x' } }, 403, OTHER_GAME);
});

test('the refusal of a service token names the missing user or the missing scope', async () => {
  const game = await api.aGame();
  const mod = await api.aMod({ game });
  const params = { ...at(game), mod_id: mod.id };
  const service = await serviceOf(api, game, 'read,write');
  await service.refused(getAuthenticatedUser, {}, 401, 11059);
  await service.refused(subscribeToMod, { params }, 401, 11059);
  const { text } = await service.call(subscribeToMod, { params });
  assert.match(text, /person|user/);
  assert.doesNotMatch(text, /scope/);
  await service.refused(editModOperation, { params, body: { summary: 'x' } }, 403, 11003);
  assert.match((await service.call(editModOperation, { params, body: { summary: 'x' } })).text, /update/);
});
