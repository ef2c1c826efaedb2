import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, assertRefused, encodeForm, startApi } from '../../../test/api.ts';
import { aClient, asking, authorizePath, Browser, REDIRECT, returned } from '../../../test/browser.ts';
import { addGameMedia } from '../../catalogue/games/operations.ts';
import { editModOperation, getMod } from '../../catalogue/mods/operations.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import { setUserStatus, USER_BANNED } from '../../people/users/users.ts';
import type { IssuedClient } from './clients.ts';
import { ACCESS_SECONDS, forgetOutdatedGrants, REFRESH_SECONDS, type TokenAnswer } from './grants.ts';
import {
  addOauthClient,
  delegationToken,
  deleteOauthClient,
  getOauthClients,
  rotateOauthClientSecret,
} from './operations.ts';

const api = await startApi();
const game = await api.aGame();
const client = await aClient(api, { gameId: game.id });
let people = 0;
const anAddress = () => `person-${++people}@example.org`;

type Fields = Record<string, string | number | undefined>;

const tokenRequest = (fields: Fields, path = '/v1/oauth/token', headers: Record<string, string> = {}) =>
  api.request('POST', path, {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: encodeForm(fields),
  });

const secretOf = ({ client_id, client_secret }: IssuedClient): Fields => ({ client_id, client_secret });

const redemption = (code: string, more: Fields = {}, by = client): Fields => ({
  ...secretOf(by),
  grant_type: 'authorization_code',
  code,
  redirect_uri: REDIRECT,
  ...more,
});

const refreshing = (refresh_token: string, more: Fields = {}, by = client): Fields => ({
  ...secretOf(by),
  grant_type: 'refresh_token',
  refresh_token,
  redirect_uri: REDIRECT,
  ...more,
});

/** A new user signs in and authorizes the client. */
async function aCode(more: Fields = {}, by = client, email = anAddress()): Promise<string> {
  const browser = new Browser(api);
  const consent = await browser.signIn(authorizePath(asking(by, more)), email);
  const allowed = await browser.submit(consent, { decision: 'allow' });
  assert.equal(allowed.status, 303, allowed.text);
  return returned(allowed).get('code')!;
}

async function tokens(more: Fields = {}, by = client): Promise<Required<TokenAnswer>> {
  const answer = await tokenRequest(redemption(await aCode(more, by), {}, by));
  assert.equal(answer.status, 200, answer.text);
  return answer.body as Required<TokenAnswer>;
}

function isError(answer: Answer, error: string, status = 400): void {
  const body = answer.body as { error?: string; error_description?: string };
  assert.deepEqual([answer.status, body.error], [status, error], answer.text);
  assert.match(body.error_description ?? '', /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
}

const reads = async (access: string) => (await api.withToken(access).call(getAuthenticatedUser)).status;

test('a code becomes an access token of 30 days and a refresh token of 90', async () => {
  const answer = await tokenRequest(redemption(await aCode()));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.headers['cache-control'], 'private, no-store');
  const { access_token, refresh_token, ...rest } = answer.body as Required<TokenAnswer>;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: ACCESS_SECONDS });
  assert.equal(ACCESS_SECONDS, 2_592_000);
  assert.equal(REFRESH_SECONDS, 7_776_000);
  assert.equal(await reads(access_token), 200);
  assert.notEqual(access_token, refresh_token);
  assert.equal(await reads(refresh_token), 401);
});

test('the redirect returns state and issuer unchanged', async () => {
  const browser = new Browser(api);
  const state = 'ä &=?#/%00"\'<>';
  const consent = await browser.signIn(authorizePath(asking(client, { state })), anAddress());
  const query = returned(await browser.submit(consent, { decision: 'allow' }));
  assert.equal(query.get('state'), state);
  assert.equal(query.get('iss'), 'https://localhost');
  assert.deepEqual([...query.keys()].sort(), ['code', 'iss', 'state']);
});

test('the redirect has no state if the request had none', async () => {
  const browser = new Browser(api);
  const consent = await browser.signIn(authorizePath(asking(client, { state: undefined })), anAddress());
  assert.equal(returned(await browser.submit(consent, { decision: 'allow' })).has('state'), false);
});

test('a user who denies is redirected with access_denied and no code', async () => {
  const browser = new Browser(api);
  const consent = await browser.signIn(authorizePath(asking(client)), anAddress());
  const query = returned(await browser.submit(consent, { decision: 'deny' }));
  assert.deepEqual([query.get('error'), query.get('state'), query.get('code')], ['access_denied', 'a state', null]);
  assert.equal(query.get('iss'), 'https://localhost');
});

test('each authorization asks the user again, and the token has the granted scopes', async () => {
  const browser = new Browser(api);
  const path = authorizePath(asking(client, { scope: 'read' }));
  const consent = await browser.signIn(path, anAddress());
  const code = returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
  const { access_token } = (await tokenRequest(redemption(code))).body as TokenAnswer;
  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  await api.withToken(access_token).refused(editModOperation, { params, body: { summary: 'x' } }, 403, 11003);
  assert.equal((await browser.get(path)).status, 200);
});

const badRedirects = [
  'https://client.example/callback/',
  'https://client.example/callback/../evil',
  'https://client.example/callbackevil',
  'https://client.example/callback?next=evil',
  'https://client.example/callback#fragment',
  'https://client.example/Callback',
  'https://CLIENT.example/callback',
  'https://client.example:8443/callback',
  'https://client.example:443/callback',
  'https://client.example@evil.example/callback',
  'https://evil.example/https://client.example/callback',
  'https://client.example.evil.example/callback',
  'https://client.example\\@evil.example/callback',
  'https://client.example/%63allback',
  '//client.example/callback',
  'http://client.example/callback',
  'http://localhost:1234/callback',
  'javascript:alert(1)',
  ' https://client.example/callback',
  'https://cliënt.example/callback',
  '',
];

for (const redirect_uri of badRedirects)
  test(`no browser is redirected to ${JSON.stringify(redirect_uri)}, which is not registered to the letter`, async () => {
    const answer = await new Browser(api).get(authorizePath(asking(client, { redirect_uri })));
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined], answer.text);
    assert.match(String(answer.headers['content-type']), /^text\/html/);
  });

test('an unknown client, or none, gets an error page', async () => {
  for (const client_id of [undefined, '', 'abc', '999999', '1e3', '-1', '0x1']) {
    const answer = await new Browser(api).get(authorizePath({ ...asking(client), client_id }));
    assert.deepEqual([answer.status, answer.headers.location], [400, undefined]);
  }
});

const refusals: [Fields, string][] = [
  [{ grant_type: undefined }, 'invalid_request'],
  [{ response_type: undefined }, 'invalid_request'],
  [{ scope: undefined }, 'invalid_request'],
  [{ grant_type: 'password' }, 'unsupported_grant_type'],
  [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
  [{ scope: 'read,write' }, 'invalid_scope'],
  [{ scope: 'read update' }, 'invalid_scope'],
  [{ scope: 'monetization' }, 'invalid_scope'],
];

for (const [fields, error] of refusals)
  test(`an authorization request with ${JSON.stringify(fields)} is redirected with ${error}`, async () => {
    const answer = await new Browser(api).get(authorizePath({ ...asking(client), ...fields }));
    assert.equal(answer.status, 302, answer.text);
    assert.ok(answer.headers.location!.startsWith(`${REDIRECT}?`));
    const query = returned(answer);
    assert.deepEqual([query.get('error'), query.get('state')], [error, 'a state']);
    assert.match(query.get('error_description')!, /^[\x20-\x7e]+$/);
  });

test('a client can use only the grants that it is registered for', async () => {
  const onlyService = await aClient(api, { gameId: game.id, grants: ['client_credentials'] });
  const answer = await new Browser(api).get(authorizePath(asking(onlyService)));
  assert.equal(returned(answer).get('error'), 'unauthorized_client');
  isError(await tokenRequest(redemption('x', {}, onlyService)), 'unauthorized_client');
  const onlyCode = await aClient(api, { gameId: game.id, grants: ['authorization_code'] });
  isError(await tokenRequest({ ...secretOf(onlyCode), grant_type: 'client_credentials' }), 'unauthorized_client');
  const answered = await tokenRequest(redemption(await aCode({}, onlyCode), {}, onlyCode));
  assert.equal((answered.body as TokenAnswer).refresh_token, undefined);
});

test('the token endpoint reports missing and unknown parameters as RFC 6749 specifies', async () => {
  const code = await aCode();
  isError(await tokenRequest({ ...secretOf(client) }), 'invalid_request');
  isError(await tokenRequest(redemption(code, { grant_type: undefined })), 'invalid_request');
  for (const grant_type of ['password', 'implicit', 'Authorization_Code', 'authorization_code client_credentials'])
    isError(await tokenRequest(redemption(code, { grant_type })), 'unsupported_grant_type');
  for (const name of ['code', 'redirect_uri', 'client_id', 'client_secret'])
    isError(await tokenRequest(redemption(code, { [name]: undefined })), 'invalid_request');
  isError(await tokenRequest(refreshing('x', { redirect_uri: undefined })), 'invalid_request');
  isError(await api.request('POST', '/v1/oauth/token'), 'invalid_request');
  assert.equal((await tokenRequest(redemption(code))).status, 200);
});

test('a wrong secret and an unknown client get the same answer', async () => {
  const wrong = await tokenRequest({ ...secretOf(client), client_secret: 'wrong', grant_type: 'client_credentials' });
  const unknown = await tokenRequest({ client_id: 999_999, client_secret: 'wrong', grant_type: 'client_credentials' });
  for (const answer of [wrong, unknown]) {
    isError(answer, 'invalid_client');
    assert.equal(answer.headers['www-authenticate'], undefined);
  }
  assert.equal(wrong.text, unknown.text);
});

test('the secret may be sent as Basic instead, and not in both places', async () => {
  const { client_id, client_secret } = client;
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  const ask = (headers: Record<string, string>, more: Fields = {}) =>
    tokenRequest({ grant_type: 'client_credentials', ...more }, '/v1/oauth/token', headers);
  assert.equal((await ask(basic(`${client_id}:${client_secret}`))).status, 200);
  const wrong = await ask(basic(`${client_id}:wrong`));
  isError(wrong, 'invalid_client', 401);
  assert.match(String(wrong.headers['www-authenticate']), /^Basic realm=/);
  isError(await ask(basic(`x:${client_secret}`)), 'invalid_client', 401);
  isError(await ask(basic(`${client_id}:${client_secret}`), { client_secret }), 'invalid_request');
});

test('a code works once, and a second exchange revokes its tokens', async () => {
  const code = await aCode();
  const first = (await tokenRequest(redemption(code))).body as Required<TokenAnswer>;
  assert.equal(await reads(first.access_token), 200);
  isError(await tokenRequest(redemption(code)), 'invalid_grant');
  assert.equal(await reads(first.access_token), 401);
  isError(await tokenRequest(refreshing(first.refresh_token)), 'invalid_grant');
});

test('of a thousand concurrent exchanges of one code, one succeeds', async () => {
  const code = await aCode();
  const answers = await Promise.all(Array.from({ length: 1_000 }, () => tokenRequest(redemption(code))));
  assert.equal(answers.filter(({ status }) => status === 200).length, 1);
  // On PostgreSQL an address has a queue of 256 requests; the others are refused without having been looked at.
  const late = answers.filter(({ status }) => status !== 200 && status !== 429);
  assert.ok(late.length >= 256, String(late.length));
  for (const answer of late) isError(answer, 'invalid_grant');
  const won = answers.find(({ status }) => status === 200)!.body as TokenAnswer;
  assert.equal(await reads(won.access_token), 401);
});

test('a code is refused to another client, for another redirect URI, and after five minutes', async () => {
  const other = await aClient(api, { gameId: game.id, redirectUris: [REDIRECT, `${REDIRECT}2`] });
  const code = await aCode({}, other);
  isError(await tokenRequest(redemption(code)), 'invalid_grant');
  isError(await tokenRequest(redemption(code, { redirect_uri: `${REDIRECT}2` }, other)), 'invalid_grant');
  const late = await aCode();
  api.clock.advance(299);
  assert.equal((await tokenRequest(redemption(code, {}, other))).status, 200);
  api.clock.advance(1);
  isError(await tokenRequest(redemption(late)), 'invalid_grant');
});

const VERIFIER = 'v'.repeat(43);
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
const challenged = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

test('a code with a challenge needs its verifier', async () => {
  const code = await aCode(challenged);
  for (const code_verifier of [undefined, 'w'.repeat(43), 'v'.repeat(42), CHALLENGE, 'v'.repeat(129)])
    isError(await tokenRequest(redemption(code, { code_verifier })), 'invalid_grant');
  assert.equal((await tokenRequest(redemption(code, { code_verifier: VERIFIER }))).status, 200);
});

test('a verifier for a code without a challenge is refused, as an attacker may have removed the challenge', async () => {
  isError(await tokenRequest(redemption(await aCode(), { code_verifier: VERIFIER })), 'invalid_grant');
});

test('a client can require a challenge for every code', async () => {
  const strict = await aClient(api, { gameId: game.id, requiresPkce: true });
  const answer = await new Browser(api).get(authorizePath(asking(strict)));
  assert.equal(returned(answer).get('error'), 'invalid_request');
  const code = await aCode(challenged, strict);
  assert.equal((await tokenRequest(redemption(code, { code_verifier: VERIFIER }, strict))).status, 200);
});

test('a refresh token is rotated, and both access tokens work', async () => {
  const first = await tokens();
  const answer = await tokenRequest(refreshing(first.refresh_token));
  assert.equal(answer.status, 200, answer.text);
  const second = answer.body as Required<TokenAnswer>;
  assert.equal(second.expires_in, ACCESS_SECONDS);
  assert.notEqual(second.refresh_token, first.refresh_token);
  for (const { access_token } of [first, second]) assert.equal(await reads(access_token), 200);
});

test('a client that lost a response can retry within ten seconds and gets the same one', async () => {
  const { refresh_token } = await tokens();
  const answers = await Promise.all(Array.from({ length: 16 }, () => tokenRequest(refreshing(refresh_token))));
  for (const { status, text } of answers) assert.deepEqual([status, text], [200, answers[0]!.text]);
  api.clock.advance(10);
  const { expires_in: _, ...again } = (await tokenRequest(refreshing(refresh_token))).body as Required<TokenAnswer>;
  const { expires_in: __, ...before } = answers[0]!.body as Required<TokenAnswer>;
  assert.deepEqual(again, before);
  assert.equal((await tokenRequest(refreshing(before.refresh_token))).status, 200);
});

test('a rotated refresh token that is used later revokes the whole grant', async () => {
  const first = await tokens();
  const second = (await tokenRequest(refreshing(first.refresh_token))).body as Required<TokenAnswer>;
  api.clock.advance(11);
  isError(await tokenRequest(refreshing(first.refresh_token)), 'invalid_grant');
  for (const { access_token } of [first, second]) assert.equal(await reads(access_token), 401);
  isError(await tokenRequest(refreshing(second.refresh_token)), 'invalid_grant');
});

test('an old refresh token is refused even within ten seconds once its successor was used', async () => {
  const first = await tokens();
  const second = (await tokenRequest(refreshing(first.refresh_token))).body as Required<TokenAnswer>;
  const third = (await tokenRequest(refreshing(second.refresh_token))).body as Required<TokenAnswer>;
  isError(await tokenRequest(refreshing(first.refresh_token)), 'invalid_grant');
  assert.equal(await reads(third.access_token), 401);
});

test('a refresh token is bound to its client, redirect URI and scopes, and expires after 90 days', async () => {
  const other = await aClient(api, { gameId: game.id });
  const { refresh_token } = await tokens({ scope: 'read' });
  isError(await tokenRequest(refreshing(refresh_token, {}, other)), 'invalid_grant');
  isError(await tokenRequest(refreshing(refresh_token, { redirect_uri: `${REDIRECT}2` })), 'invalid_grant');
  for (const scope of ['read,write', 'write', 'read update'])
    isError(await tokenRequest(refreshing(refresh_token, { scope })), 'invalid_scope');
  api.clock.advance(REFRESH_SECONDS - 1);
  const next = (await tokenRequest(refreshing(refresh_token, { scope: 'read' }))).body as Required<TokenAnswer>;
  assert.equal(await reads(next.access_token), 200);
  api.clock.advance(REFRESH_SECONDS);
  isError(await tokenRequest(refreshing(next.refresh_token)), 'invalid_grant');
});

test('an access token expires after 30 days, or earlier on request', async () => {
  const now = api.clock.now();
  const wished = await tokenRequest(redemption(await aCode(), { date_expires: now + 60 }));
  assert.equal((wished.body as TokenAnswer).expires_in, 60);
  const tooLate = await tokenRequest(redemption(await aCode(), { date_expires: now + ACCESS_SECONDS + 1 }));
  const { expires_in, access_token } = tooLate.body as TokenAnswer;
  assert.equal(expires_in, ACCESS_SECONDS);
  api.clock.advance(ACCESS_SECONDS - 1);
  assert.equal(await reads(access_token), 200);
  api.clock.advance(1);
  await api.withToken(access_token).refused(getAuthenticatedUser, {}, 401, 11005);
});

const revocation = (token: string, by = client) => tokenRequest({ ...secretOf(by), token }, '/v1/oauth/revoke');

test('a client revokes its tokens', async () => {
  const { access_token, refresh_token } = await tokens();
  assert.equal((await revocation(access_token)).status, 200);
  assert.equal(await reads(access_token), 401);
  const next = (await tokenRequest(refreshing(refresh_token))).body as Required<TokenAnswer>;
  assert.equal((await revocation(next.refresh_token)).status, 200);
  assert.equal(await reads(next.access_token), 401);
  isError(await tokenRequest(refreshing(next.refresh_token)), 'invalid_grant');
});

test('revoking tokens of other clients has no effect and reveals nothing', async () => {
  const other = await aClient(api, { gameId: game.id });
  const { access_token } = await tokens();
  for (const token of [access_token, 'made-up']) assert.equal((await revocation(token, other)).text, '{}');
  assert.equal(await reads(access_token), 200);
  isError(await revocation(access_token, { ...other, client_secret: 'wrong' }), 'invalid_client');
});

test('a banned user’s grants give no tokens', async () => {
  const { access_token, refresh_token } = await tokens();
  const { id } = (await api.withToken(access_token).call(getAuthenticatedUser)).body;
  await setUserStatus(api.app(), id, USER_BANNED);
  isError(await tokenRequest(refreshing(refresh_token)), 'invalid_grant');
  await api.withToken(access_token).refused(getAuthenticatedUser, {}, 401, 11007);
});

async function aServiceToken(scope?: string, by = client): Promise<string> {
  const answer = await tokenRequest({ ...secretOf(by), grant_type: 'client_credentials', scope });
  assert.equal(answer.status, 200, answer.text);
  return (answer.body as TokenAnswer).access_token;
}

test('a backend gets a service token with the requested scopes', async () => {
  const ask = (scope?: string) => tokenRequest({ ...secretOf(client), grant_type: 'client_credentials', scope });
  const { access_token, ...rest } = (await ask('monetization,read')).body as Required<TokenAnswer>;
  assert.deepEqual(rest, { token_type: 'Bearer', expires_in: ACCESS_SECONDS, scopes: 'read,monetization' });
  assert.match(access_token, /^[\w-]{43}$/);
  assert.equal(((await ask()).body as TokenAnswer).scopes, 'read,write');
  for (const scope of ['admin', 'read,everything', ',']) isError(await ask(scope), 'invalid_scope');
});

test('a service token cannot call operations for users', async () => {
  const token = api.withToken(await aServiceToken('read,write,update,monetization'));
  await token.refused(getAuthenticatedUser, {}, 401, 11059);
  await token.refused(addOauthClient, { params: { game_id: game.id }, body: { name: 'x' } }, 401, 11059);
  await token.refused(delegationToken, {}, 401, 11059);
});

test('with update, a backend edits mods of its own game as the owner, and of no other game', async () => {
  const mod = await api.aMod({ game });
  const foreign = await api.aMod({ game: await api.aGame({ owner: game.owner }) });
  const edit = (of: { game_id: number; id: number }, summary: string) => ({
    params: { game_id: of.game_id, mod_id: of.id },
    body: { summary },
  });
  const leader = api.withToken(await aServiceToken('update'));
  assert.equal((await leader.call(editModOperation, edit(mod, 'By the backend'))).status, 200);
  const params = { game_id: game.id, mod_id: mod.id };
  assert.equal((await api.withKey(game).call(getMod, { params })).body.summary, 'By the backend');
  await leader.refused(editModOperation, edit(foreign, 'x'), 403, 11104);
  const plain = api.withToken(await aServiceToken('read,write,monetization'));
  await plain.refused(editModOperation, edit(mod, 'x'), 403, 11003);
});

test('a backend gets no staff rights from a game owner who is staff', async () => {
  const owner = await api.aUser({ admin: true });
  const own = await api.aGame({ owner });
  const backend = api.withToken(await aServiceToken('update', await aClient(api, { gameId: own.id })));
  const mod = await api.aMod({ game });
  const params = { game_id: game.id, mod_id: mod.id };
  await backend.refused(editModOperation, { params, body: { summary: 'x' } }, 403, 11104);
});

const delegatedTo = (token: string, delegation: string | undefined, host = 'localhost', name = 'x-service') =>
  api.request('GET', '/v1/s2s/user', {
    headers: {
      authorization: `Bearer ${token}`,
      ...(delegation !== undefined && { [`${name}-delegation-token`]: delegation }),
    },
    host,
  });

test('a backend reads from a delegation token for whom it acts', async () => {
  const person = await api.aUser();
  const player = await api.as(person, { gameId: game.id });
  const { entity, token } = (await player.call(delegationToken)).body;
  assert.equal(entity, 'purchase_server');
  const service = await aServiceToken('read');
  for (const name of ['x-service', 'x-modio']) {
    const answer = await delegatedTo(service, token, `g-${game.id}.localhost`, name);
    assert.equal((answer.body as { id: number }).id, person.id, answer.text);
  }
  assertRefused(await delegatedTo(service, undefined), 401, 11059);
  for (const bad of ['x', `${token}x`, token.replace(/\.\d+\./, '.1.'), service])
    assertRefused(await delegatedTo(service, bad), 401, 12004);
  assertRefused(await delegatedTo(service, token, 'g-999999.localhost'), 403, 11104);
  assertRefused(await delegatedTo(player.token!, token), 401, 11060);
  assertRefused(await delegatedTo(await aServiceToken('write'), token), 403, 11004);
});

test('a delegation token ends after 15 minutes, with its access token, and does not work in another game', async () => {
  const player = await api.as(await api.aUser(), { gameId: game.id });
  const service = await aServiceToken('read');
  const { token } = (await player.call(delegationToken)).body;
  const elsewhere = await aServiceToken('read', await aClient(api));
  assertRefused(await delegatedTo(elsewhere, token), 403, 11104);
  api.clock.advance(899);
  assert.equal((await delegatedTo(service, token)).status, 200);
  api.clock.advance(1);
  assertRefused(await delegatedTo(service, token), 401, 12004);
  const again = (await player.call(delegationToken)).body.token;
  assert.equal((await api.request('POST', '/v1/oauth/logout', { headers: bearer(player.token!) })).status, 200);
  assertRefused(await delegatedTo(service, again), 401, 12004);
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

test('a token without a game delegates only on the host of a game, and one of a game only there', async () => {
  const person = await api.aUser();
  const delegate = (token: string, host: string) =>
    api.request('POST', '/v1/me/s2s/oauth/token', { headers: bearer(token), host });
  const own = (await api.as(person)).token!;
  assertRefused(await delegate(own, 'localhost'), 403, 11103);
  assert.equal((await delegate(own, `g-${game.id}.localhost`)).status, 200);
  const ofGame = (await api.as(person, { gameId: game.id })).token!;
  assertRefused(await delegate(ofGame, 'g-999999.localhost'), 403, 11104);
});

test('a client works on the host of its game and on no other game’s', async () => {
  const at = (host: string) =>
    api.request('POST', '/v1/oauth/token', {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: encodeForm({ ...secretOf(client), grant_type: 'client_credentials' }),
      host,
    });
  assert.equal((await at(`g-${game.id}.localhost`)).status, 200);
  const refused = await at('g-999999.localhost');
  isError(refused, 'unauthorized_client');
  assert.equal((refused.body as { error_ref: number }).error_ref, 11104);
});

test('administrators register clients and get validation errors', async () => {
  const admin = await api.as(game.owner);
  const params = { game_id: game.id };
  const add = (body: Record<string, string | readonly string[] | undefined>) =>
    admin.call(addOauthClient, { params, body });
  const { status, body } = await add({ name: 'Site', redirect_uris: [REDIRECT], grants: ['authorization_code'] });
  assert.equal(status, 201);
  const listed = (await admin.call(getOauthClients, { params })).body.data.find(({ id }) => id === body.client_id);
  assert.deepEqual([listed?.redirect_uris, listed?.requires_pkce], [[REDIRECT], true]);
  assert.doesNotMatch(JSON.stringify(listed), new RegExp(body.client_secret));
  for (const bad of [
    { name: 'x', grants: ['authorization_code'] },
    { name: 'x', grants: ['refresh_token'], redirect_uris: [REDIRECT] },
  ])
    assertRefused(await add(bad), 400, 11075);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(addOauthClient, { params, body: { name: 'x' } }, 403, 14039);
  await stranger.refused(getOauthClients, { params }, 403, 14039);
});

test('the media of a game include the redirect URIs of its clients', async () => {
  const other = await api.aGame();
  const admin = await api.as(other.owner);
  const params = { game_id: other.id };
  const uris = ['https://client.example/new'];
  await admin.refused(addGameMedia, { params, body: { redirect_uris: uris } }, 422, 13009);
  const site = { name: 'Site', redirect_uris: [REDIRECT], grants: ['authorization_code'] };
  await admin.call(addOauthClient, { params, body: site });
  await admin.call(addOauthClient, { params, body: { name: 'Backend', grants: ['client_credentials'] } });
  assert.equal((await admin.call(addGameMedia, { params, body: { redirect_uris: uris } })).status, 200);
  const clients = (await admin.call(getOauthClients, { params })).body.data;
  assert.deepEqual(clients.map(({ name, redirect_uris }) => [name, redirect_uris]).sort(), [
    ['Backend', []],
    ['Site', uris],
  ]);
  await admin.refused(addGameMedia, { params, body: { redirect_uris: ['http://client.example/'] } }, 422, 13009);
  const manager = await api.aUser();
  await api.joins(manager, other, 4);
  await (await api.as(manager)).refused(addGameMedia, { params, body: { redirect_uris: uris } }, 403, 14039);
});

test('a new secret ends the old one, and removing a client revokes its tokens', async () => {
  const admin = await api.as(game.owner);
  const old = await aClient(api, { gameId: game.id });
  const params = { game_id: game.id, client_id: old.client_id };
  const service = await aServiceToken('update', old);
  const given = await tokens({}, old);
  const { body: renewed } = await admin.call(rotateOauthClientSecret, { params });
  isError(await tokenRequest({ ...secretOf(old), grant_type: 'client_credentials' }), 'invalid_client');
  assertRefused(await delegatedTo(service, 'x'), 401, 11005);
  assert.equal(await reads(given.access_token), 401);
  const refreshed = await tokenRequest(refreshing(given.refresh_token, {}, renewed));
  const person = (refreshed.body as TokenAnswer).access_token;
  assert.equal(await reads(person), 200);
  const again = await aServiceToken('read', renewed);
  assert.equal((await admin.call(deleteOauthClient, { params })).status, 204);
  assert.equal(await reads(person), 401);
  assertRefused(await delegatedTo(again, 'x'), 401, 11005);
  isError(await tokenRequest({ ...secretOf(renewed), grant_type: 'client_credentials' }), 'invalid_client');
  await admin.refused(deleteOauthClient, { params }, 404, 14000);
});

test('with an overlap both secrets and their tokens are valid until it ends, and only then the new one alone', async () => {
  const admin = await api.as(game.owner);
  const old = await aClient(api, { gameId: game.id });
  const params = { game_id: game.id, client_id: old.client_id };
  const given = await tokens({}, old);
  const service = async (credentials: typeof old) =>
    (await tokenRequest({ ...secretOf(credentials), grant_type: 'client_credentials' })).status;
  const { body: renewed } = await admin.call(rotateOauthClientSecret, { params, query: { overlap: 3_600 } });
  assert.deepEqual([await service(old), await service(renewed)], [200, 200]);
  assert.equal(await reads(given.access_token), 200);
  const { data } = (await admin.call(getOauthClients, { params })).body;
  const shown = data.find(({ id }) => id === old.client_id)!;
  assert.equal(shown.date_previous_secret_ends, api.app().clock.now() + 3_600);
  api.clock.advance(3_600);
  isError(await tokenRequest({ ...secretOf(old), grant_type: 'client_credentials' }), 'invalid_client');
  assert.equal(await service(renewed), 200);
  const refreshed = await tokenRequest(refreshing(given.refresh_token, {}, renewed));
  assert.equal(refreshed.status, 200);

  // Without an overlap a stolen secret ends at once, and so does the one before it.
  const { body: third } = await admin.call(rotateOauthClientSecret, { params, query: { overlap: 3_600 } });
  const { body: last } = await admin.call(rotateOauthClientSecret, { params });
  assert.deepEqual([await service(renewed), await service(third), await service(last)], [400, 400, 200]);
  await admin.refused(rotateOauthClientSecret, { params, query: { overlap: 604_801 } }, 422, 13009);
});

test('a client authorized by an administrator cannot register other clients', async () => {
  const browser = new Browser(api);
  const owner = await api.aUser({ email: 'owner@example.org' });
  const own = await api.aGame({ owner });
  const consent = await browser.signIn(authorizePath(asking(client)), 'owner@example.org');
  const code = returned(await browser.submit(consent, { decision: 'allow' })).get('code')!;
  const { access_token } = (await tokenRequest(redemption(code))).body as TokenAnswer;
  const params = { game_id: own.id };
  await api.withToken(access_token).refused(addOauthClient, { params, body: { name: 'x' } }, 403, 12004);
});

test('unusable codes, grants and tokens are deleted, and nothing else', async () => {
  const { refresh_token } = await tokens();
  await forgetOutdatedGrants(api.app());
  const next = (await tokenRequest(refreshing(refresh_token))).body as Required<TokenAnswer>;
  assert.equal(await reads(next.access_token), 200);
  api.clock.advance(REFRESH_SECONDS + 86_401);
  await forgetOutdatedGrants(api.app());
  const left = await api.app().db.query.selectFrom('oauth_refresh_tokens').select('id').execute();
  assert.equal(left.length, 0);
});

test('the metadata document lists all endpoints', async () => {
  const { body } = await api.request('GET', '/.well-known/oauth-authorization-server');
  const { issuer, token_endpoint, code_challenge_methods_supported } = body as Record<string, unknown>;
  assert.deepEqual(
    [issuer, token_endpoint, code_challenge_methods_supported],
    ['https://localhost', 'https://localhost/v1/oauth/token', ['S256']],
  );
});
