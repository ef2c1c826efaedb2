import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Answer, type Game, startApi } from '../../../../test/api.ts';
import { Browser } from '../../../../test/browser.ts';
import { type Asked, startPlatforms } from '../../../../test/platforms.ts';
import { getAuthenticatedUser } from '../../../people/users/operations.ts';
import { findSession } from '../../sessions/sessions.ts';
import { authenticateViaItchio, authenticateViaOculus, editGamePortal, getConnections } from '../operations.ts';

const platforms = await startPlatforms();
const api = await startApi({ settings: platforms.settings });
const SITE = 'https://localhost';
const game = await api.aGame();
const setUp = async (of: Game, portal: string, body: Record<string, string>) =>
  (await api.as(of.owner)).call(editGamePortal, { params: { game_id: of.id, portal }, body });
const ITCHIO = { itch_game_id: '3', client_id: 'itch-client' };
const OCULUS = { quest_app_id: '7', quest_app_secret: 'quest secret', organization_id: '42' };
await setUp(game, 'itchio', ITCHIO);
await setUp(game, 'oculus', OCULUS);

let people = 5_000;
const someone = () => ++people;

const hinted = (portal: string, of: Game = game, more: Record<string, string> = {}) =>
  `/sign-in?${new URLSearchParams({ game: String(of.id), portal, login: 'auto', ...more })}`;

async function leaves(browser: Browser, path: string): Promise<URL> {
  const left = await browser.get(path);
  assert.equal(left.status, 303, left.text);
  return new URL(left.headers.location!);
}

/** Opens the redirect URI and does what our script does there. */
async function brings(browser: Browser, address: string, fragment: string): Promise<Answer> {
  const { pathname, search } = new URL(address, SITE);
  const page = await browser.get(pathname + search);
  return page.status === 200 ? browser.submit(page, { fragment }) : page;
}

function agrees(browser: Browser, page: Answer): Promise<Answer> {
  assert.equal(page.status, 200, page.text);
  assert.match(page.text, /Agree to the terms/);
  return browser.submit(page, { decision: 'agree' });
}

const userIn = async (browser: Browser): Promise<number | undefined> =>
  (await findSession(api.app(), browser.cookies.get('__Host-modstead_session')))?.user_id;
const userOf = async (token: string): Promise<number> =>
  (await api.withToken(token).call(getAuthenticatedUser)).body.id;

function isRefused(answer: Answer, status: number, ref: number): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.text, new RegExp(`Reference ${ref}\\b`));
  assert.equal(answer.headers.location, undefined);
  assert.ok(!(answer.headers['set-cookie'] ?? []).some((line) => line.includes('session=')), 'a session was opened');
}

/** What itch.io stores about a token: its application and its scopes. */
interface Key {
  readonly person: number;
  readonly developer: string;
  readonly info: object;
}
const OWN: Omit<Key, 'person'> = {
  developer: 'the studio',
  info: { type: 'key', scopes: ['profile:me', 'game:view:ownership'] },
};
const keys = new Map<string, Key>();

/** itch.io answers about the shown token, and about games only to applications of their developer. */
function itchioIsThere(): void {
  const shown = ({ headers }: Asked) => keys.get(String(headers.authorization).replace('Bearer ', ''));
  const answers = (path: string, about: (key: Key) => object) =>
    platforms.on(path, (asked) => {
      const key = shown(asked);
      return key ? { json: about(key) } : { status: 403, json: { errors: ['invalid key'] } };
    });
  answers('/credentials/info', ({ info }) => info);
  answers('/profile', ({ person }) => ({ user: { id: person, username: 'grace', display_name: 'Grace' } }));
  answers('/games/3/ownership', ({ developer }) =>
    developer === 'the studio' ? { owns: false } : { errors: ['invalid game'] },
  );
}

function tokenOf(person: number, more: Partial<Key> = {}): string {
  const token = `itch-${person}-${keys.size}`;
  keys.set(token, { person, ...OWN, ...more });
  return token;
}

beforeEach(itchioIsThere);

/** Sends a browser to itch.io, where the user allows it; returns the redirect URI and the fragment. */
async function itchioAllows(browser: Browser, token: string, path = hinted('itchio')): Promise<[string, string]> {
  const query = (await leaves(browser, path)).searchParams;
  const fragment = new URLSearchParams({ access_token: token, state: query.get('state')! });
  return [query.get('redirect_uri')!, fragment.toString()];
}

test('itch.io: login=auto redirects there with a state and minimal scopes', async () => {
  const address = await leaves(new Browser(api), hinted('itchio'));
  assert.equal(address.origin + address.pathname, 'https://itch.io/user/oauth');
  const { state, ...said } = Object.fromEntries(address.searchParams);
  assert.match(state!, /^[\w-]{43}$/);
  assert.deepEqual(said, {
    client_id: 'itch-client',
    scope: 'profile:me game:view:ownership',
    response_type: 'token',
    redirect_uri: `${SITE}/sign-in/itchio/${game.id}`,
  });
});

test('itch.io: a returning user agrees once and has the same account as in the game', async () => {
  const person = someone();
  const browser = new Browser(api);
  const entered = await agrees(browser, await brings(browser, ...(await itchioAllows(browser, tokenOf(person)))));
  assert.deepEqual([entered.status, entered.headers.location], [303, '/sign-in']);
  platforms.on('/api/1/jwt/me', () => ({
    json: { user: { id: person, username: 'grace' }, api_key: { type: 'jwt', issuer: { game_id: 3 } } },
  }));
  const played = await api.withKey(game).call(authenticateViaItchio, { body: { itchio_token: 'jwt' } });
  assert.equal(played.status, 200, played.text);
  assert.equal(await userIn(browser), await userOf(played.body.access_token));
  const again = new Browser(api);
  const path = hinted('itchio', game, { return: '/account' });
  const back = await brings(again, ...(await itchioAllows(again, tokenOf(person), path)));
  assert.deepEqual([back.status, back.headers.location], [303, '/account']);
  assert.equal(await userIn(again), await userIn(browser));
});

for (const [what, change] of Object.entries<Partial<Key>>({
  'of another developer’s application': { developer: 'somebody else' },
  'with fewer scopes than requested': { info: { type: 'key', scopes: ['profile:me'] } },
  'with more scopes than requested': {
    info: { type: 'key', scopes: ['profile:me', 'game:view:ownership', 'profile'] },
  },
  'that the user created for themselves': { info: { type: 'key' } },
  'of a game': { info: { type: 'jwt', scopes: ['profile:me', 'game:view:ownership'], expires_at: '2030-01-01' } },
}))
  test(`T16: itch.io: a token ${what} does not sign its owner in`, async () => {
    const browser = new Browser(api);
    const before = platforms.timesAsked('/profile');
    isRefused(await brings(browser, ...(await itchioAllows(browser, tokenOf(someone(), change)))), 401, 11032);
    assert.equal(platforms.timesAsked('/profile'), before, 'the token was used');
    assert.equal(await userIn(browser), undefined);
  });

test('T16: itch.io: a game that is not accepted cannot replay tokens that its own application collected', async () => {
  const hidden = await api.aGame({ accepted: false });
  await setUp(hidden, 'itchio', ITCHIO);
  await setUp(hidden, 'oculus', OCULUS);
  const browser = new Browser(api);
  const page = await browser.get(hinted('itchio', hidden));
  assert.equal(page.status, 200);
  assert.match(page.text, /Continue with Meta/);
  assert.doesNotMatch(page.text, /Continue with itch\.io/);
  isRefused(await browser.get(`/sign-in/itchio/${hidden.id}`), 401, 11032);
  const account = await browser.signIn(`/account/link?game=${hidden.id}`, 'itch.hidden@example.org');
  assert.match(account.text, /Link Meta/);
  assert.doesNotMatch(account.text, /Link itch\.io/);
  assert.equal((await browser.submit(account, { link: 'itchio' })).status, 404);
});

test('itch.io: no token, an invented token and a denial are refused', async () => {
  const browser = new Browser(api);
  isRefused(await brings(browser, ...(await itchioAllows(browser, 'invented'))), 401, 11032);
  const [address, fragment] = await itchioAllows(browser, tokenOf(someone()));
  isRefused(await brings(browser, address, fragment.replace('access_token', 'token')), 401, 11032);
  const [, denied] = await itchioAllows(browser, tokenOf(someone()));
  isRefused(await brings(browser, address, `${denied}&error=access_denied`), 401, 11032);
  const [, deniedFragment] = await itchioAllows(browser, tokenOf(someone()));
  isRefused(await brings(browser, `${address}?error=access_denied`, deniedFragment), 401, 11032);
  const [, twice] = await itchioAllows(browser, tokenOf(someone()));
  isRefused(await brings(browser, address, `${twice}&access_token=another`), 401, 11032);
});

for (const path of ['/credentials/info', '/games/3/ownership', '/profile'])
  test(`itch.io: sign-in fails while ${path} is unavailable`, async () => {
    const browser = new Browser(api);
    const back = await itchioAllows(browser, tokenOf(someone()));
    platforms.down(path);
    isRefused(await brings(browser, ...back), 401, 11031);
  });

test('T17: itch.io: the answer counts only in the browser that started, once, in time, and for this game', async () => {
  const browser = new Browser(api);
  const back = await itchioAllows(browser, tokenOf(someone()));
  const stranger = new Browser(api);
  isRefused(await brings(stranger, ...back), 403, 11095);
  assert.equal((await brings(browser, ...back)).status, 200);
  isRefused(await brings(browser, ...back), 403, 11095);
  const late = await itchioAllows(browser, tokenOf(someone()));
  api.clock.advance(600);
  isRefused(await brings(browser, ...late), 403, 11095);
  const other = await api.aGame();
  await setUp(other, 'itchio', ITCHIO);
  const [, elsewhere] = await itchioAllows(browser, tokenOf(someone()));
  isRefused(await brings(browser, `/sign-in/itchio/${other.id}`, elsewhere), 403, 11095);
  const [address, twice] = await itchioAllows(browser, tokenOf(someone()));
  isRefused(await brings(browser, `${address}?state=x`, twice), 403, 11095);
  isRefused(await brings(browser, address, ''), 403, 11095);
  const forged = { fragment: twice };
  isRefused(await browser.post(new URL(address).pathname, forged), 403, 11095);
});

for (const [portal, name] of [
  ['itchio', 'itch.io'],
  ['oculus', 'Meta'],
] as const) {
  test(`T17: ${name}: the page that reads the fragment has one script of ours, cannot be framed, and sends no referrer`, async () => {
    const page = await new Browser(api).get(`/sign-in/${portal}/${game.id}`);
    assert.equal(page.status, 200, page.text);
    assert.equal(
      page.headers['content-security-policy'],
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; " +
        "frame-ancestors 'none'",
    );
    assert.equal(page.headers['x-frame-options'], 'DENY');
    assert.equal(page.headers['referrer-policy'], 'no-referrer');
    assert.equal(page.headers['cache-control'], 'no-store');
    assert.deepEqual(page.text.match(/<script.*?<\/script>/gs), ['<script src="/fragment.js" defer></script>']);
    assert.doesNotMatch(page.text, /style="|\bon\w+=|javascript:/);
    const script = await new Browser(api).get('/fragment.js');
    assert.deepEqual([script.status, script.headers['content-type']], [200, 'text/javascript; charset=utf-8']);
    assert.doesNotMatch(script.text, /fetch|XMLHttpRequest|innerHTML|eval|https?:/);
  });

  test(`${name}: the page escapes everything from the address`, async () => {
    const page = await new Browser(api).get(`/sign-in/${portal}/${game.id}?"><script>alert(1)</script>`);
    assert.equal(page.text.match(/<script/g)?.length, 1);
  });

  test(`${name}: the return is refused if the game does not use the portal`, async () => {
    const bare = await api.aGame();
    isRefused(await new Browser(api).get(`/sign-in/${portal}/${bare.id}`), 401, 11032);
    await setUp(bare, portal, { ...(portal === 'itchio' ? ITCHIO : OCULUS), web: 'false' });
    isRefused(await new Browser(api).get(`/sign-in/${portal}/${bare.id}`), 401, 11032);
  });

  for (const [language, text, link] of [
    ['en', `Signing in with ${name} needs JavaScript in this browser.`, 'Sign in'],
    ['de', `Die Anmeldung mit ${name} braucht JavaScript in diesem Browser.`, 'Anmelden'],
    ['fr', `La connexion avec ${name} nécessite JavaScript dans ce navigateur.`, 'Se connecter'],
    ['es', `Para iniciar sesión con ${name} hace falta JavaScript en este navegador.`, 'Iniciar sesión'],
    ['ja', `${name}でのサインインには、このブラウザーでJavaScriptが必要です。`, 'サインイン'],
    ['zh-CN', `使用 ${name} 登录需要此浏览器支持 JavaScript。`, '登录'],
  ])
    test(`${name}: without scripts the page says in ${language} that it needs them, and links to the sign-in by email`, async () => {
      const browser = new Browser(api, 'production', { 'accept-language': language! });
      const page = await browser.get(`/sign-in/${portal}/${game.id}`);
      const [, note = ''] = /<p class="note">(.*?)<\/p>/.exec(page.text) ?? [];
      assert.ok(note.includes(text!), page.text);
      assert.ok(page.text.includes(`<a href="/sign-in">${link}</a>`), page.text);
    });
}

/** Meta redeems a code once, for an app of the organisation, and then returns its user. */
interface MetaPerson {
  readonly id: string;
  readonly orgScopedId: string;
  readonly alias: string;
}
function metaCode(person: MetaPerson, app = 'OC|7|quest secret'): string {
  const code = `meta-${someone()}`;
  let isUsed = false;
  platforms.on('/sso_authorize_code', ({ method, form }) => {
    const isGood =
      method === 'POST' &&
      !isUsed &&
      form.get('code') === code &&
      form.get('access_token') === app &&
      form.get('org_scoped_id') === person.orgScopedId;
    isUsed = true;
    return isGood ? { json: { oauth_token: `of-${code}` } } : { status: 400, json: { error: { message: 'no' } } };
  });
  platforms.on('/me', ({ headers, query }) =>
    headers.authorization === `Bearer of-${code}` && query.get('fields') === 'id,alias,org_scoped_id'
      ? { json: { id: person.id, alias: person.alias, org_scoped_id: person.orgScopedId } }
      : { status: 400, json: {} },
  );
  return fragmentOf({ code, org_scoped_id: person.orgScopedId });
}

const fragmentOf = (answer: object) => Buffer.from(JSON.stringify(answer)).toString('base64');

function aMetaPerson(alias = 'Grace'): MetaPerson {
  const id = String(someone());
  return { id, orgScopedId: `9${id}`, alias };
}

const metaAddress = (of: Game = game) => `/sign-in/oculus/${of.id}`;

function isNamed(page: Answer, name: string): void {
  assert.equal(page.status, 200, page.text);
  assert.match(page.text, /Is this you\?/);
  assert.ok(page.text.includes(`Meta says that you are ${name}.`), page.text);
  assert.ok(!(page.headers['set-cookie'] ?? []).some((line) => line.includes('session=')), 'a session was opened');
}

const saysYes = (browser: Browser, page: Answer, name = 'Grace') => {
  isNamed(page, name);
  return browser.submit(page, { decision: 'continue' });
};

test('Meta: login=auto redirects with the registered redirect URI and the organisation, and nothing else', async () => {
  const address = await leaves(new Browser(api), hinted('oculus'));
  assert.equal(address.origin + address.pathname, 'https://auth.oculus.com/sso/');
  assert.deepEqual(Object.fromEntries(address.searchParams), {
    redirect_uri: SITE + metaAddress(),
    organization_id: '42',
  });
});

test('Meta: a returning user confirms their name, agrees once, and has the same account as in the game', async () => {
  const person = aMetaPerson();
  const browser = new Browser(api);
  await leaves(browser, hinted('oculus'));
  const named = await brings(browser, metaAddress(), metaCode(person));
  const entered = await agrees(browser, await saysYes(browser, named));
  assert.deepEqual([entered.status, entered.headers.location], [303, '/sign-in']);
  platforms.on('/user_nonce_validate', () => ({ json: { is_valid: true } }));
  platforms.on('/me', () => ({ json: { id: person.id, alias: 'Grace' } }));
  const body = { device: 'quest', nonce: 'n', user_id: person.id, access_token: 'a' };
  const played = await api.withKey(game).call(authenticateViaOculus, { body });
  assert.equal(played.status, 200, played.text);
  assert.equal(await userIn(browser), await userOf(played.body.access_token));
  const again = new Browser(api);
  await leaves(again, hinted('oculus', game, { return: '/account' }));
  const back = await saysYes(again, await brings(again, metaAddress(), encodeURIComponent(metaCode(person))));
  assert.deepEqual([back.status, back.headers.location], [303, '/account'], back.text);
  assert.equal(await userIn(again), await userIn(browser));
});

test('Meta: a game for Rift only uses the Rift app, and one without an app is not offered', async () => {
  const rift = await api.aGame();
  await setUp(rift, 'oculus', { rift_app_id: '8', rift_app_secret: 'rift secret', organization_id: '42' });
  const browser = new Browser(api);
  await leaves(browser, hinted('oculus', rift));
  isNamed(await brings(browser, metaAddress(rift), metaCode(aMetaPerson(), 'OC|8|rift secret')), 'Grace');
  const none = await api.aGame();
  await setUp(none, 'oculus', { organization_id: '42' });
  assert.equal((await new Browser(api).get(hinted('oculus', none))).status, 200);
});

test('T17: Meta: a victim who is redirected with a stranger’s account sees its name and is not signed in', async () => {
  const attacker = aMetaPerson('Mallory');
  const untouched = new Browser(api);
  isRefused(await brings(untouched, metaAddress(), metaCode(attacker)), 403, 11095);
  const victim = new Browser(api);
  // Another site can send a browser to the portal and back with a code of its own.
  await leaves(victim, hinted('oculus'));
  const page = await brings(victim, metaAddress(), metaCode(attacker));
  isNamed(page, 'Mallory');
  const left = await victim.submit(page, { decision: 'leave' });
  assert.deepEqual([left.status, left.headers.location], [303, '/sign-in']);
  assert.equal(await userIn(victim), undefined);
  const [, token] = /name="token" value="([^"]+)"/.exec(page.text)!;
  isRefused(await victim.post(metaAddress(), { token, decision: 'continue' }), 403, 11095);
  const other = new Browser(api);
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec((await other.get('/sign-in')).text)!;
  isRefused(await other.post(metaAddress(), { csrf, token, decision: 'continue' }), 403, 11095);
});

test('T17: Meta: the answer counts once, in time, in this browser and for this game', async () => {
  const browser = new Browser(api);
  await leaves(browser, hinted('oculus'));
  const page = await brings(browser, metaAddress(), metaCode(aMetaPerson()));
  isRefused(await brings(browser, metaAddress(), metaCode(aMetaPerson())), 403, 11095);
  assert.match((await saysYes(browser, page)).text, /Agree to the terms/);
  isRefused(await browser.submit(page, { decision: 'continue' }), 403, 11095);
  await leaves(browser, hinted('oculus'));
  api.clock.advance(600);
  isRefused(await brings(browser, metaAddress(), metaCode(aMetaPerson())), 403, 11095);
  const other = await api.aGame();
  await setUp(other, 'oculus', OCULUS);
  await leaves(browser, hinted('oculus'));
  isRefused(await brings(browser, metaAddress(other), metaCode(aMetaPerson())), 403, 11095);
  // A second start replaces the first.
  await leaves(browser, hinted('oculus'));
  await leaves(browser, hinted('oculus'));
  isNamed(await brings(browser, metaAddress(), metaCode(aMetaPerson())), 'Grace');
});

test('Meta: a malformed answer, a refused code and another user’s code are refused', async () => {
  const browser = new Browser(api);
  const comesBack = async (fragment: string) => {
    await leaves(browser, hinted('oculus'));
    return brings(browser, metaAddress(), fragment);
  };
  const person = aMetaPerson();
  const good = metaCode(person);
  const before = platforms.timesAsked('/sso_authorize_code');
  for (const fragment of [
    '',
    '%',
    'no base64',
    'bnVsbA==',
    fragmentOf({ code: 'x' }),
    fragmentOf({ org_scoped_id: '1' }),
  ])
    isRefused(await comesBack(fragment), 401, 11032);
  assert.equal(platforms.timesAsked('/sso_authorize_code'), before, 'Meta was asked about nothing');
  isRefused(await comesBack(fragmentOf({ code: 'another', org_scoped_id: person.orgScopedId })), 401, 11032);
  isRefused(await comesBack(good), 401, 11032);
  const changed = metaCode(person);
  platforms.on('/me', () => ({ json: { id: '1', alias: 'Grace', org_scoped_id: 'another' } }));
  isRefused(await comesBack(changed), 401, 11026);
  const unnamed = metaCode(person);
  platforms.on('/me', () => ({ json: { alias: 'Grace', org_scoped_id: person.orgScopedId } }));
  isRefused(await comesBack(unnamed), 401, 11026);
  for (const path of ['/sso_authorize_code', '/me']) {
    const away = metaCode(person);
    platforms.down(path);
    isRefused(await comesBack(away), 401, 11026);
  }
  assert.equal(await userIn(browser), undefined);
});

test('Meta: the user can retry while Meta does not yet identify the user of a code', async () => {
  const browser = new Browser(api);
  await leaves(browser, hinted('oculus'));
  const person = aMetaPerson();
  const fragment = metaCode(person);
  platforms.on('/me', () => ({ status: 400, json: { error: { message: 'Token not authorized' } } }));
  const first = await brings(browser, metaAddress(), fragment);
  assert.equal(first.status, 200, first.text);
  assert.match(first.text, /Meta does not say yet who you are\./);
  const second = await browser.submit(first, { decision: 'again' });
  assert.match(second.text, /Meta does not say yet who you are\./);
  isRefused(await browser.submit(first, { decision: 'again' }), 403, 11095);
  const [, token] = /name="token" value="([^"]+)"/.exec(second.text)!;
  const stranger = new Browser(api);
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec((await stranger.get('/sign-in')).text)!;
  isRefused(await stranger.post(metaAddress(), { csrf, token, decision: 'again' }), 403, 11095);
  // The user cannot continue before Meta has identified them.
  isRefused(await browser.submit(second, { decision: 'agree' }), 403, 11095);
  await leaves(browser, hinted('oculus'));
  const again = metaCode(person);
  const answers = { id: person.id, alias: 'Grace', org_scoped_id: person.orgScopedId };
  platforms.on('/me', () => ({ status: 400, json: {} }));
  const third = await brings(browser, metaAddress(), again);
  platforms.on('/me', () => ({ json: answers }));
  isNamed(await browser.submit(third, { decision: 'again' }), 'Grace');
});

test('T17: Meta: an account is linked to the user who started, once they have seen its name', async () => {
  const browser = new Browser(api);
  const account = await browser.signIn(`/account/link?game=${game.id}`, 'meta.links@example.org');
  const left = await browser.submit(account, { link: 'oculus' });
  assert.equal(left.status, 303, left.text);
  const person = aMetaPerson();
  const page = await brings(browser, metaAddress(), metaCode(person));
  isNamed(page, 'Grace');
  assert.match(page.text, /it will be linked/);
  const connections = async () =>
    (await (await api.as({ id: (await userIn(browser))! })).call(getConnections)).body.data.map((each) => [
      each.portal,
      each.portal_user_id,
    ]);
  assert.deepEqual(await connections(), []);
  // Another user is signed in in the same browser by now.
  const attacker = new Browser(api);
  await attacker.signIn('/account/link', 'meta.attacker@example.org');
  const [own, theirs] = [browser, attacker].map((each) => each.cookies.get('__Host-modstead_session')!);
  browser.cookies.set('__Host-modstead_session', theirs!);
  isRefused(await browser.submit(page, { decision: 'continue' }), 403, 11095);
  browser.cookies.set('__Host-modstead_session', own!);
  assert.deepEqual(await connections(), []);
  await browser.submit(account, { link: 'oculus' });
  const linked = await saysYes(browser, await brings(browser, metaAddress(), metaCode(person)));
  assert.deepEqual([linked.status, linked.headers.location], [303, `/account/link?game=${game.id}`], linked.text);
  assert.deepEqual(await connections(), [['oculus', person.id]]);
});

test('itch.io: an account is linked to the user who started', async () => {
  const browser = new Browser(api);
  const account = await browser.signIn(`/account/link?game=${game.id}`, 'itch.links@example.org');
  const left = await browser.submit(account, { link: 'itchio' });
  const query = new URL(left.headers.location!).searchParams;
  const person = someone();
  const fragment = new URLSearchParams({ access_token: tokenOf(person), state: query.get('state')! }).toString();
  const linked = await brings(browser, query.get('redirect_uri')!, fragment);
  assert.deepEqual([linked.status, linked.headers.location], [303, `/account/link?game=${game.id}`], linked.text);
  assert.match((await browser.get(`/account/link?game=${game.id}`)).text, /itch\.io · Grace/);
});
