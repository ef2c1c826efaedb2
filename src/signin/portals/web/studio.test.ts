import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { type Answer, type Game, startApi } from '../../../../test/api.ts';
import { aClient, Browser } from '../../../../test/browser.ts';
import { startPlatforms } from '../../../../test/platforms.ts';
import { getAuthenticatedUser } from '../../../people/users/operations.ts';
import { issueServiceToken } from '../../../platform/access/credentials.ts';
import { delegationToken } from '../../oauth/operations.ts';
import {
  deleteGamePortal,
  disconnectUser,
  editGamePortal,
  getConnections,
  getGamePortals,
  testGamePortal,
} from '../operations.ts';

/** A studio’s server, simulated by the test. */
const studio = await startPlatforms();
/** A real one: another instance of this service, with its own certificate and users. */
const peer = await startApi();
const api = await startApi({
  settings: {
    MODSTEAD_DOMAIN: 'mods.localhost',
    MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32,::1/128',
    MODSTEAD_EGRESS_CA: peer.service.certificateFile,
  },
});
const SITE = 'https://mods.localhost';
const SECRET = 'a secret of the studio';
const SETTINGS = {
  authorize_url: 'https://id.studio.example/authorize?tenant=7',
  token_url: `${studio.url}/token`,
  userinfo_url: `${studio.url}/userinfo`,
  client_id: 'mods',
  client_secret: SECRET,
  scopes: 'openid profile',
};

const setUp = async (of: Game, body: Record<string, string>) =>
  (await api.as(of.owner)).call(editGamePortal, { params: { game_id: of.id, portal: 'sso' }, body });
const game = await api.aGame();
assert.equal((await setUp(game, SETTINGS)).status, 200);

let people = 0;
/** The studio accepts one code, for this user. */
function studioKnows(
  challenge: string,
  info: object,
  token: object = { access_token: 'of the studio', token_type: 'Bearer' },
) {
  studio.on('/token', ({ form }) => {
    const isGood =
      form.get('code') === 'good' &&
      form.get('client_id') === 'mods' &&
      form.get('client_secret') === SECRET &&
      form.get('redirect_uri') === `${SITE}/sign-in/studio/${game.id}` &&
      createHash('sha256').update(form.get('code_verifier')!).digest('base64url') === challenge;
    return isGood ? { json: token } : { status: 400, json: { error: 'invalid_grant' } };
  });
  studio.on('/userinfo', ({ headers }) =>
    headers.authorization === 'Bearer of the studio' ? { json: info } : { status: 401, json: {} },
  );
}

const AUTO = `/sign-in?game=${game.id}&portal=studio&login=auto`;

async function leaves(browser: Browser, path = AUTO): Promise<URLSearchParams> {
  const left = await browser.get(path);
  assert.equal(left.status, 303, left.text);
  return new URL(left.headers.location!).searchParams;
}

async function comesBack(
  browser: Browser,
  more: Record<string, string> = {},
  info: object = { sub: `p-${++people}`, name: 'Grace' },
) {
  const asked = await leaves(browser);
  studioKnows(asked.get('code_challenge')!, info);
  return `/sign-in/studio/${game.id}?${new URLSearchParams({ code: 'good', state: asked.get('state')!, ...more })}`;
}

function isRefused(answer: Answer, status: number, ref: number): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.text, new RegExp(`Reference ${ref}\\b`));
  assert.equal(answer.headers.location, undefined);
  assert.ok(!(answer.headers['set-cookie'] ?? []).some((line) => line.includes('session=')));
}

test('a browser is sent to the studio with state and a challenge, and the parameters that the address had already', async () => {
  const left = await new Browser(api).get(AUTO);
  const address = new URL(left.headers.location!);
  assert.equal(address.origin + address.pathname, 'https://id.studio.example/authorize');
  const { code_challenge, state, ...rest } = Object.fromEntries(address.searchParams);
  assert.match(`${code_challenge} ${state}`, /^[\w-]{43} [\w-]{43}$/);
  assert.deepEqual(rest, {
    tenant: '7',
    response_type: 'code',
    client_id: 'mods',
    redirect_uri: `${SITE}/sign-in/studio/${game.id}`,
    scope: 'openid profile',
    code_challenge_method: 'S256',
  });
});

test('a user who returns from the studio agrees to the terms and is signed in with the studio’s id', async () => {
  const browser = new Browser(api);
  const asked = await browser.get(
    await comesBack(browser, {}, { sub: 'person-1', name: 'Grace', picture: 'https://p.example/1' }),
  );
  const entered = await browser.submit(asked, { decision: 'agree' });
  assert.equal(entered.status, 303, entered.text);
  const row = await api
    .app()
    .db.query.selectFrom('portal_accounts')
    .selectAll()
    .where('portal_id', '=', 'person-1')
    .executeTakeFirstOrThrow();
  assert.deepEqual(
    [row.portal, row.game_id, row.display_name, row.avatar],
    ['sso', game.id, 'Grace', 'https://p.example/1'],
  );
  for (const path of ['/token', '/userinfo'])
    assert.equal(studio.asked.findLast((each) => each.path === path)?.headers['user-agent'], 'ModioSSO/1.0', path);
});

test('claims are read as the game maps them, and a number is accepted as an id', async () => {
  const mapped = await api.aGame();
  await setUp(mapped, {
    ...SETTINGS,
    portal_id_claim: 'account_id',
    display_name_claim: 'gamertag',
    client_authentication: 'basic',
  });
  const browser = new Browser(api);
  const asked = await leaves(browser, `/sign-in?game=${mapped.id}&portal=studio&login=auto`);
  studio.on('/token', ({ headers }) =>
    headers.authorization === `Basic ${Buffer.from('mods:a+secret+of+the+studio').toString('base64')}`
      ? { json: { access_token: 't', token_type: 'bearer' } }
      : { status: 401, json: { error: 'invalid_client' } },
  );
  studio.on('/userinfo', () => ({ json: { sub: 'ignored', account_id: 4711, gamertag: 'Ada' } }));
  const page = await browser.get(
    `/sign-in/studio/${mapped.id}?${new URLSearchParams({ code: 'c', state: asked.get('state')! })}`,
  );
  assert.equal((await browser.submit(page, { decision: 'agree' })).status, 303, page.text);
  const row = await api
    .app()
    .db.query.selectFrom('portal_accounts')
    .selectAll()
    .where('portal_id', '=', '4711')
    .executeTakeFirstOrThrow();
  assert.deepEqual([row.game_id, row.display_name], [mapped.id, 'Ada']);
});

test('11114: the game does not use this sign-in, or no longer', async () => {
  const bare = await api.aGame();
  isRefused(await new Browser(api).get(`/sign-in/studio/${bare.id}?code=x&state=y`), 403, 11114);
  isRefused(await new Browser(api).get('/sign-in/studio/999999?code=x&state=y'), 403, 11114);
  const closed = await api.aGame();
  await setUp(closed, SETTINGS);
  const browser = new Browser(api);
  const asked = await leaves(browser, `/sign-in?game=${closed.id}&portal=studio&login=auto`);
  await setUp(closed, { web: 'false' });
  const back = `/sign-in/studio/${closed.id}?code=good&state=${asked.get('state')}`;
  isRefused(await browser.get(back), 403, 11114);
  const page = await browser.get(`/sign-in?game=${closed.id}&portal=studio&login=auto`);
  assert.match(page.text, /class="note">This game does not sign players in with accounts of its studio/);
  await (await api.as(closed.owner)).call(deleteGamePortal, { params: { game_id: closed.id, portal: 'sso' } });
  isRefused(await browser.get(back), 403, 11114);
});

test('11115: the state is missing, unknown, of another browser or game, used, or too old', async () => {
  const browser = new Browser(api);
  const at = `/sign-in/studio/${game.id}`;
  isRefused(await browser.get(`${at}?code=good`), 403, 11115);
  isRefused(await browser.get(`${at}?code=good&state=${'x'.repeat(43)}`), 403, 11115);
  const back = await comesBack(browser);
  isRefused(await new Browser(api).get(back), 403, 11115);
  const other = await api.aGame();
  await setUp(other, SETTINGS);
  isRefused(await browser.get((await comesBack(browser)).replace(`/${game.id}?`, `/${other.id}?`)), 403, 11115);
  const good = await comesBack(browser);
  assert.equal((await browser.get(good)).status, 200);
  isRefused(await browser.get(good), 403, 11115);
  const late = await comesBack(browser);
  api.clock.advance(600);
  isRefused(await browser.get(late), 403, 11115);
});

test('11116: the studio or the user denied; the studio’s description is not shown', async () => {
  const browser = new Browser(api);
  const back = await comesBack(browser, {
    error: 'access_denied',
    error_description: '<b>gone</b>',
    error_uri: 'https://evil.example',
  });
  const answer = await browser.get(back);
  isRefused(answer, 403, 11116);
  assert.doesNotMatch(answer.text, /gone|evil/);
  assert.match(answer.text, /<a href="\/sign-in">Sign in<\/a>/);
});

test('11117: there is no code, more than one, or another issuer’s', async () => {
  const browser = new Browser(api);
  isRefused(await browser.get(await comesBack(browser, { code: '' })), 401, 11117);
  isRefused(await browser.get(`${await comesBack(browser)}&code=second`), 401, 11117);
  isRefused(await browser.get(await comesBack(browser, { iss: 'https://evil.example' })), 401, 11117);
  assert.equal((await browser.get(await comesBack(browser, { iss: 'https://id.studio.example' }))).status, 200);
  await setUp(game, { issuer: 'https://issuer.studio.example' });
  isRefused(await browser.get(await comesBack(browser, { iss: 'https://id.studio.example' })), 401, 11117);
  assert.equal((await browser.get(await comesBack(browser, { iss: 'https://issuer.studio.example' }))).status, 200);
  await setUp(game, { issuer: '' });
});

test('11118: the token endpoint does not answer, fails, returns no JSON, redirects, or is forbidden', async () => {
  const browser = new Browser(api);
  const at = async (reply: Parameters<typeof studio.on>[1]) => {
    const back = await comesBack(browser);
    studio.on('/token', reply);
    isRefused(await browser.get(back), 401, 11118);
  };
  await at(() => 'no answer');
  await at(() => ({ status: 502, json: {} }));
  await at(() => ({ json: '<html>' }));
  await at(() => ({ status: 302, headers: { location: '/elsewhere' }, json: {} }));
  await at(() => ({ json: 'x'.repeat(300_000) }));
  await setUp(game, { token_url: 'https://169.254.169.254/latest/meta-data' });
  isRefused(await browser.get(await comesBack(browser)), 401, 11118);
  await setUp(game, { token_url: SETTINGS.token_url });
});

test('11119: the code is refused, or the token is unusable', async () => {
  const browser = new Browser(api);
  isRefused(await browser.get(await comesBack(browser, { code: 'bad' })), 401, 11119);
  for (const token of [
    {},
    { access_token: 't' },
    { access_token: 't', token_type: 'mac' },
    { access_token: 7, token_type: 'bearer' },
  ]) {
    const asked = await leaves(browser);
    studioKnows(asked.get('code_challenge')!, { sub: 'x' }, token);
    isRefused(await browser.get(`/sign-in/studio/${game.id}?code=good&state=${asked.get('state')}`), 401, 11119);
  }
});

test('11120: the studio does not return the user', async () => {
  const browser = new Browser(api);
  for (const reply of [
    () => 'no answer' as const,
    () => ({ status: 500, json: {} }),
    () => ({ status: 401, json: {} }),
    () => ({ json: 'no JSON' }),
  ]) {
    const back = await comesBack(browser);
    studio.on('/userinfo', reply);
    isRefused(await browser.get(back), 401, 11120);
  }
  await setUp(game, { userinfo_url: 'http://10.0.0.1/userinfo' });
  isRefused(await browser.get(await comesBack(browser)), 401, 11120);
  await setUp(game, { userinfo_url: SETTINGS.userinfo_url });
});

test('11121: the studio’s answer has no id', async () => {
  const browser = new Browser(api);
  for (const info of [
    {},
    { name: 'Grace' },
    { sub: '' },
    { sub: 0 },
    { sub: 1.5 },
    { sub: { id: 1 } },
    { sub: null },
    [],
  ])
    isRefused(await browser.get(await comesBack(browser, {}, info)), 401, 11121);
});

test('errors of the studio are shown in the user’s language', async () => {
  for (const [language, words] of [
    ['de', 'Das Studio hat dich nicht angemeldet.'],
    ['fr', 'Le studio ne vous a pas connecté.'],
    ['es', 'El estudio no ha iniciado tu sesión.'],
    ['ja', 'スタジオでサインインできませんでした。'],
    ['zh-CN', '工作室未能让您登录。'],
  ] as const) {
    const browser = new Browser(api, 'production', { 'accept-language': language });
    const { text, headers } = await browser.get(await comesBack(browser, { error: 'access_denied' }));
    assert.ok(text.includes(words), text);
    assert.match(String(headers['content-security-policy']), /frame-ancestors 'none'/);
  }
});

test('a studio sign-in requires all of its settings, and addresses that are valid for browsers', async () => {
  const fresh = await api.aGame();
  const administrator = await api.as(fresh.owner);
  const params = { game_id: fresh.id, portal: 'sso' };
  const wrong = async (body: Record<string, string>) =>
    Object.keys(
      (await administrator.refused(editGamePortal, { params, body }, 422, 13009)).body.error.errors ?? {},
    ).sort();
  assert.deepEqual(await wrong({ client_id: 'x' }), ['authorize_url', 'client_secret', 'token_url', 'userinfo_url']);
  for (const authorize_url of ['http://id.example/', 'javascript:alert(1)', 'https://id.example/#x', 'nowhere'])
    assert.deepEqual(await wrong({ ...SETTINGS, authorize_url }), ['authorize_url']);
  assert.deepEqual(await wrong({ ...SETTINGS, client_authentication: 'none', scopes: 'a"b', token_url: 'x' }), [
    'client_authentication',
    'scopes',
    'token_url',
  ]);
  assert.deepEqual(await wrong({ active: 'true' }), ['jwks_url']);
  const shown = await administrator.call(editGamePortal, { params, body: SETTINGS });
  assert.equal(shown.body.redirect_uri, `${SITE}/sign-in/studio/${fresh.id}`);
  assert.deepEqual(shown.body.secrets, ['client_secret']);
  const { text } = await administrator.call(getGamePortals, { params });
  assert.ok(!text.includes(SECRET));
});

test('another instance of this service can be the studio, with its sign-in and consent pages', async () => {
  const peered = await api.aGame();
  const client = await aClient(peer, {
    name: 'Mods',
    redirectUris: [`${SITE}/sign-in/studio/${peered.id}`],
    grants: ['authorization_code'],
  });
  const at = `https://localhost:${peer.port}`;
  await setUp(peered, {
    authorize_url: `${at}/oauth/authorize?grant_type=authorization_code`,
    token_url: `${at}/v1/oauth/token`,
    userinfo_url: `${at}/v1/me`,
    client_id: String(client.client_id),
    client_secret: client.client_secret,
    scopes: 'read',
    portal_id_claim: 'id',
    display_name_claim: 'username',
    issuer: 'https://localhost',
  });
  const [here, there] = [new Browser(api), new Browser(peer)];
  const left = await here.get(`/sign-in?game=${peered.id}&portal=studio&login=auto&return=%2Faccount`);
  const asked = new URL(left.headers.location!);
  assert.equal(asked.origin, at);
  const consent = await there.signIn(asked.pathname + asked.search, 'player@studio.example');
  const allowed = await there.submit(consent, { decision: 'allow' });
  const back = new URL(allowed.headers.location!);
  assert.equal(back.origin, SITE);
  assert.equal(back.searchParams.get('iss'), 'https://localhost');
  const terms = await here.get(back.pathname + back.search);
  const entered = await here.submit(terms, { decision: 'agree' });
  assert.deepEqual([entered.status, entered.headers.location], [303, '/account'], entered.text);
  const person = await peer
    .app()
    .db.query.selectFrom('users')
    .select(['id', 'username'])
    .where('email', '=', 'player@studio.example')
    .executeTakeFirstOrThrow();
  const row = await api
    .app()
    .db.query.selectFrom('portal_accounts')
    .selectAll()
    .where('game_id', '=', peered.id)
    .executeTakeFirstOrThrow();
  assert.deepEqual([row.portal, row.portal_id, row.display_name], ['sso', String(person.id), person.username]);

  // The user denies; and a code works only with the verifier of the same sign-in.
  const stranger = new Browser(api);
  const second = new URL((await stranger.get(`/sign-in?game=${peered.id}&portal=studio&login=auto`)).headers.location!);
  const denied = new URL(
    (await there.submit(await there.get(second.pathname + second.search), { decision: 'deny' })).headers.location!,
  );
  isRefused(await stranger.get(denied.pathname + denied.search), 403, 11116);
  const third = new URL((await stranger.get(`/sign-in?game=${peered.id}&portal=studio&login=auto`)).headers.location!);
  third.searchParams.set('code_challenge', createHash('sha256').update('an attacker’s').digest('base64url'));
  const injected = new URL(
    (await there.submit(await there.get(third.pathname + third.search), { decision: 'allow' })).headers.location!,
  );
  isRefused(await stranger.get(injected.pathname + injected.search), 401, 11119);
});

test('a player unlinks the studio, or its backend does for them', async () => {
  const browser = new Browser(api);
  const page = await browser.get(await comesBack(browser, {}, { sub: 'leaver', name: 'Leaver' }));
  await browser.submit(page, { decision: 'agree' });
  const { user_id } = await api
    .app()
    .db.query.selectFrom('portal_accounts')
    .select('user_id')
    .where('portal_id', '=', 'leaver')
    .executeTakeFirstOrThrow();
  await api
    .app()
    .db.query.updateTable('users')
    .set({ email: 'leaver@example.org' })
    .where('id', '=', user_id)
    .execute();
  const me = await api.as({ id: user_id }, { gameId: game.id });
  assert.equal((await me.call(getAuthenticatedUser)).body.username, 'Leaver');
  const app = api.app();
  const { client_id: clientId } = await aClient(api, { gameId: game.id });
  const service = await app.db.write((transaction) =>
    issueServiceToken(app, transaction, {
      clientId,
      gameId: game.id,
      scopes: ['read', 'write'],
      lifetimeSeconds: 60,
    }),
  );
  const headers = { 'X-Modio-Delegation-Token': (await me.call(delegationToken)).body.token };
  const backend = api.withToken(service.access_token);
  const params = { portal_id: 'sso' };
  assert.equal((await backend.call(disconnectUser, { params, headers })).status, 204);
  assert.equal((await me.call(getConnections)).body.data.length, 0);
  await backend.refused(disconnectUser, { params, headers }, 400, 11069);
});

test('administrators test a portal step by step, without a user, and others may not', async () => {
  const tested = await api.aGame();
  const params = { game_id: tested.id, portal: 'sso' } as const;
  const studioOf = await api.as(tested.owner);
  await studioOf.refused(testGamePortal, { params }, 404, 14_000);
  const good = { ...SETTINGS, authorize_url: `${studio.url.replace('http:', 'https:')}/authorize` };
  assert.equal((await setUp(tested, { ...good, jwks_url: `${studio.url}/jwks` })).status, 200);
  const steps = async (language = 'en') => {
    const { body } = await studioOf.call(testGamePortal, { params, headers: { 'accept-language': language } });
    return body.steps.map(({ step, ok, detail, original }) => [step, ok, detail, original]);
  };
  studio.on('/jwks', () => ({ json: { keys: [{ kty: 'RSA', kid: '1', n: 'x', e: 'AQAB' }] } }));
  studio.on('/token', ({ form }) => ({
    status: 400,
    json: { error: form.get('client_secret') === SECRET ? 'invalid_grant' : 'invalid_client' },
  }));
  const [keys, settings, page, secret] = await steps();
  assert.deepEqual(keys, ['keys', true, '1 key', '']);
  assert.deepEqual(settings, ['settings', true, '', '']);
  // The stand-in speaks no TLS, so its page does not show.
  assert.deepEqual(page!.slice(0, 3), ['page', false, 'The server cannot be reached.']);
  assert.deepEqual(secret, ['secret', true, '', '']);
  await setUp(tested, { client_secret: 'another' });
  studio.on('/jwks', () => ({ status: 404, json: {} }));
  const wrong = await steps('de');
  assert.deepEqual(wrong[0], ['keys', false, 'Das Portal antwortet nicht wie erwartet.', '']);
  assert.deepEqual(wrong[3], ['secret', false, 'Das Portal antwortet mit einem Fehler.', 'invalid_client']);
  studio.down('/token');
  assert.deepEqual((await steps('ja'))[3]!.slice(0, 3), ['secret', false, 'サーバーに接続できません。']);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(testGamePortal, { params }, 403, 14_039);
});
