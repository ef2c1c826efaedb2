import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { encodeForm, startApi, type User } from '../../../test/api.ts';
import { aClient, asking, authorizePath, Browser, REDIRECT, returned } from '../../../test/browser.ts';
import { anotherService, untilReceived } from '../../../test/wire.ts';
import { getGames } from '../../catalogue/games/operations.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { deleteSession, deleteSessions, getSessions } from '../sessions/operations.ts';
import { TOKENS_MAX } from './credentials.ts';
import {
  addOwnKey,
  addOwnToken,
  deleteOwnKey,
  deleteOwnToken,
  getOwnKey,
  getOwnTokens,
  rotateGameKeyOperation,
  rotateOwnKey,
} from './operations.ts';

const api = await startApi();
setDefaultCACertificates([readFileSync(api.service.certificateFile!, 'utf8')]);
let people = 0;

async function aPerson(): Promise<User & { email: string }> {
  const email = `owner-${++people}@example.org`;
  return { ...(await api.aUser({ email })), email };
}

const made = { name: 'Build server', scopes: ['read'] };

/** Authorizes a client and returns its tokens. */
async function letIn(
  email: string,
): Promise<{ access_token: string; refresh_token: string; refresh: () => Promise<number> }> {
  const client = await aClient(api);
  const browser = new Browser(api);
  const consent = await browser.signIn(authorizePath(asking(client)), email);
  const code = returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
  const send = (fields: Record<string, string>) =>
    api.request('POST', '/v1/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: encodeForm({ ...client, redirect_uri: REDIRECT, ...fields }),
    });
  const given = (await send({ grant_type: 'authorization_code', code })).body as {
    access_token: string;
    refresh_token: string;
  };
  const refresh = async () => (await send({ grant_type: 'refresh_token', refresh_token: given.refresh_token })).status;
  return { ...given, refresh };
}

test('a user creates a token for a script, finds it in the list and revokes it', async () => {
  const me = await api.as(await aPerson());
  const { status, body } = await me.call(addOwnToken, { body: made });
  assert.equal(status, 201);
  const script = api.withToken(body.access_token);
  assert.equal((await script.call(getAuthenticatedUser)).status, 200);
  await script.refused(addOwnToken, { body: made }, 403, 11003);
  const { data } = (await me.call(getOwnTokens)).body;
  assert.deepEqual(
    data.map(({ name, scopes, client, is_current }) => ({ name, scopes, client, is_current })),
    [
      { name: null, scopes: ['read', 'write'], client: null, is_current: true },
      { name: 'Build server', scopes: ['read'], client: null, is_current: false },
    ],
  );
  assert.doesNotMatch(JSON.stringify(data), new RegExp(body.access_token));
  const params = { token_id: data[1]!.id };
  assert.equal((await me.call(deleteOwnToken, { params })).status, 204);
  await script.refused(getAuthenticatedUser, {}, 401, 11005);
  await me.refused(deleteOwnToken, { params }, 400, 11076);
  await me.refused(deleteOwnToken, { params: { token_id: 999_999 } }, 404, 14000);
});

test('a user cannot revoke a token of another user', async () => {
  const [me, other] = [await api.as(await aPerson()), await api.as(await aPerson())];
  const { id } = (await other.call(getOwnTokens)).body.data[0]!;
  await me.refused(deleteOwnToken, { params: { token_id: id } }, 403, 11077);
  assert.equal((await other.call(getAuthenticatedUser)).status, 200);
});

test('a token cannot create a token with more scopes than its own', async () => {
  const writer = await api.as(await aPerson(), { scopes: ['write'] });
  await writer.refused(addOwnToken, { body: { ...made, scopes: ['read', 'write'] } }, 403, 11003);
  assert.equal((await writer.call(addOwnToken, { body: { ...made, scopes: ['write'] } })).status, 201);
});

test('a user can have a hundred tokens, even when they are requested concurrently', async () => {
  const me = await api.as(await aPerson());
  const answers = await Promise.all(
    Array.from({ length: TOKENS_MAX + 8 }, (_, n) => me.call(addOwnToken, { body: { ...made, name: `Script ${n}` } })),
  );
  assert.equal(answers.filter(({ status }) => status === 201).length, TOKENS_MAX);
  assert.equal(answers.filter(({ status }) => status === 422).length, 8);
});

test('an authorized application is in the list, and revoking its token ends it', async () => {
  const { email, ...person } = await aPerson();
  const { access_token, refresh } = await letIn(email);
  const me = await api.as(person);
  const { data } = (await me.call(getOwnTokens)).body;
  const held = data.find(({ client }) => client?.name.startsWith('Skyport'))!;
  assert.equal((await me.call(deleteOwnToken, { params: { token_id: held.id } })).status, 204);
  await api.withToken(access_token).refused(getAuthenticatedUser, {}, 401, 11005);
  assert.equal(await refresh(), 400);
});

test('an application can neither create nor revoke credentials', async () => {
  const { email, ...person } = await aPerson();
  const own = await api.as(person);
  const game = await api.aGame({ owner: person });
  const application = api.withToken((await letIn(email)).access_token);
  await application.refused(addOwnToken, { body: made }, 403, 12004);
  await application.refused(rotateOwnKey, {}, 403, 12004);
  await application.refused(addOwnKey, {}, 403, 12004);
  await application.refused(deleteOwnKey, {}, 403, 12004);
  await application.refused(rotateGameKeyOperation, { params: { game_id: game.id } }, 403, 12004);
  await application.refused(deleteSessions, {}, 403, 12004);
  const { data } = (await own.call(getOwnTokens)).body;
  const [mine, theirs] = [data.find(({ is_current }) => is_current)!, data.find(({ client }) => client)!];
  for (const { id } of [mine, theirs])
    await application.refused(deleteOwnToken, { params: { token_id: id } }, 403, 12004);
});

test('a user rotates their API key, deletes it, and creates another', async () => {
  const person = await aPerson();
  const me = await api.as(person);
  assert.equal((await api.withKey(person).call(getGames)).status, 200);
  await me.refused(addOwnKey, {}, 400, 11078);
  const { api_key } = (await me.call(rotateOwnKey)).body;
  await api.withKey(person).refused(getGames, {}, 401, 11002);
  assert.equal((await api.withKey({ api_key }).call(getGames)).status, 200);
  assert.equal((await me.call(deleteOwnKey)).status, 204);
  await api.withKey({ api_key }).refused(getGames, {}, 401, 11002);
  await me.refused(getOwnKey, {}, 404, 14000);
  const again = await me.call(addOwnKey);
  assert.equal(again.status, 201);
  assert.equal((await api.withKey(again.body).call(getGames)).status, 200);
  assert.equal((await me.call(getOwnKey)).status, 200);
});

test('of sixteen concurrent requests for a key, one succeeds', async () => {
  const me = await api.as(await aPerson());
  await me.call(deleteOwnKey);
  const answers = await Promise.all(Array.from({ length: 16 }, () => me.call(addOwnKey)));
  assert.equal(answers.filter(({ status }) => status === 201).length, 1);
});

test('only administrators of a game can rotate its key', async () => {
  const game = await api.aGame();
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  const params = { game_id: game.id };
  await (await api.as(manager)).refused(rotateGameKeyOperation, { params }, 403, 11079);
  await (await api.as(await aPerson())).refused(rotateGameKeyOperation, { params }, 403, 11079);
  const { api_key } = (await (await api.as(game.owner)).call(rotateGameKeyOperation, { params })).body;
  await api.withKey(game).refused(getGames, {}, 401, 11002);
  assert.equal((await api.withKey({ api_key }).call(getGames)).status, 200);
});

test('signed-in browsers are listed, and each can be signed out', async () => {
  const { email, ...person } = await aPerson();
  const path = authorizePath(asking(await aClient(api)));
  const [here, there] = [new Browser(api, 'production', { 'user-agent': 'Here' }), new Browser(api)];
  await here.signIn(path, email);
  await there.signIn(path, email);
  const me = await api.as(person);
  const { data } = (await me.call(getSessions)).body;
  assert.deepEqual(
    data.map(({ user_agent }) => user_agent),
    ['Here', ''],
  );
  const params = { session_id: data[0]!.id };
  const stranger = await api.as(await aPerson());
  await stranger.refused(deleteSession, { params }, 404, 14000);
  assert.equal((await me.call(deleteSession, { params })).status, 204);
  await me.refused(deleteSession, { params }, 404, 14000);
  assert.equal((await here.get(path)).status, 303);
  assert.equal((await there.get(path)).status, 200);
});

test('signing out everywhere ends tokens, applications and browsers on every process that received the notification', async () => {
  const { email, ...person } = await aPerson();
  const other = await anotherService(api);
  try {
    const path = authorizePath(asking(await aClient(api)));
    const browser = new Browser(api);
    await browser.signIn(path, email);
    const { access_token, refresh } = await letIn(email);
    const me = await api.as(person);
    const ask = async (token: string) => {
      const answer = await fetch(`https://localhost:${other.port}/v1/me`, {
        headers: { authorization: `Bearer ${token}` },
      });
      return answer.status;
    };
    const held = [me.token!, access_token];
    for (const token of held) assert.equal(await ask(token), 200);
    assert.equal((await me.call(deleteSessions)).status, 204);
    for (const token of held) await untilReceived(other.apps.production.db, async () => (await ask(token)) !== 200);
    for (const token of held) await api.withToken(token).refused(getAuthenticatedUser, {}, 401, 11005);
    assert.equal(await refresh(), 400);
    assert.equal((await browser.get(path)).status, 303);
  } finally {
    await other.stop();
  }
});
