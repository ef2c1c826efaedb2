import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { decodeJwt, jwtVerify } from 'jose';
import { type Answer, type Game, startApi } from '../../../../test/api.ts';
import { Browser } from '../../../../test/browser.ts';
import { type Asked, encryptFor, Issuer, startPlatforms } from '../../../../test/platforms.ts';
import { addAgreementVersion, editAgreementVersion } from '../../../people/agreements/operations.ts';
import { getAuthenticatedUser } from '../../../people/users/operations.ts';
import { LINKED_PORTALS, type LinkedPortal } from '../../../platform/vocabulary/game-platforms.ts';
import { addSession, findSession } from '../../sessions/sessions.ts';
import { forgetOutdated } from '../accounts.ts';
import {
  authenticateViaDiscord,
  authenticateViaPsn,
  authenticateViaSwitch,
  deleteGamePortal,
  editGamePortal,
  getConnections,
  getGamePortals,
} from '../operations.ts';

const platforms = await startPlatforms();
const api = await startApi({ settings: platforms.settings });
const SITE = 'https://localhost';
const issuer = new Issuer();
const relyingParty = generateKeyPairSync('rsa', { modulusLength: 2048 });
const appleKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pem = (key: typeof appleKey.privateKey) => key.export({ type: 'pkcs8', format: 'pem' }) as string;

const game = await api.aGame();
const setUp = async (of: Game, portal: string, body: Record<string, string | string[]>) =>
  (await api.as(of.owner)).call(editGamePortal, { params: { game_id: of.id, portal }, body });

let people = 9_000;
const someone = () => String(++people);
const challengeOf = (verifier: string) => createHash('sha256').update(verifier).digest('base64url');

/** What the platform stores about a code: its user, and the parameters of the browser. */
interface Given {
  readonly code: string;
  readonly challenge: string;
  readonly redirectUri: string;
  readonly person: string;
}
let given: Given;

interface Case {
  readonly settings: Record<string, string | string[]>;
  readonly authorize: string;
  readonly clientId: string;
  readonly scope: string | null;
  /** Makes the platform answer about the user of the code. */
  readonly plays: () => Promise<void>;
  readonly token: string;
  readonly shows: (asked: Asked) => boolean | Promise<boolean>;
  readonly unreachable: number;
  /** The error for an unknown code, if it differs from the usual one. */
  readonly wrongCode?: number;
  readonly name: string;
}

const inBody = (id: string, secret: string) => (asked: Asked) =>
  asked.form.get('client_id') === id && asked.form.get('client_secret') === secret;

const inHeader = (id: string, secret: string) => (asked: Asked) =>
  asked.headers.authorization === `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;

const psnClaims = (aud: string) => ({
  iss: 'https://auth.api.sonyentertainmentnetwork.com',
  aud,
  online_id: 'Grace',
});

/** The token endpoint of a platform, which checks everything against the authorization request. */
async function sells(path: string, shows: Case['shows'], answer: () => Promise<object>): Promise<void> {
  const json = await answer();
  platforms.on(path, (asked) => {
    const said = asked.method === 'GET' ? asked.query : asked.form;
    const isGood =
      said.get('grant_type') === 'authorization_code' &&
      said.get('code') === given.code &&
      said.get('redirect_uri') === given.redirectUri &&
      challengeOf(said.get('code_verifier') ?? '') === given.challenge &&
      shows(asked);
    return isGood ? { json } : { status: 400, json: { error: 'invalid_grant' } };
  });
}

const idToken = (claims: object) =>
  issuer.sign({ iat: api.clock.now(), exp: api.clock.now() + 600, jti: given.code, sub: given.person, ...claims });
const serveKeys = async (path: string) => {
  const keys = [await issuer.jwk()];
  platforms.on(path, () => ({ json: { keys } }));
};

const CASES: Record<string, Case> = {
  apple: {
    settings: {
      bundle_ids: ['com.example.game'],
      services_id: 'com.example.web',
      team_id: 'TEAM',
      key_id: 'KEY',
      private_key: pem(appleKey.privateKey),
    },
    authorize: 'https://appleid.apple.com/auth/authorize',
    clientId: 'com.example.web',
    scope: null,
    token: '/auth/token',
    shows: (asked) => decodeJwt(asked.form.get('client_secret')!).sub === 'com.example.web',
    plays: async () => {
      await serveKeys('/auth/keys');
      const id_token = await idToken({ iss: 'https://appleid.apple.com', aud: 'com.example.web' });
      await sells('/auth/token', CASES['apple']!.shows, async () => ({ id_token }));
    },
    unreachable: 11032,
    name: '',
  },
  discord: {
    settings: { client_id: '1234', client_secret: 'discord secret' },
    authorize: 'https://discord.com/oauth2/authorize',
    clientId: '1234',
    scope: 'identify',
    token: '/api/v10/oauth2/token',
    shows: inBody('1234', 'discord secret'),
    plays: async () => {
      const user = { id: given.person, username: 'grace', global_name: 'Grace' };
      platforms.on('/api/v10/oauth2/@me', ({ headers }) =>
        headers.authorization === 'Bearer of-discord'
          ? { json: { application: { id: '1234' }, user } }
          : { status: 401, json: {} },
      );
      await sells('/api/v10/oauth2/token', CASES['discord']!.shows, async () => ({ access_token: 'of-discord' }));
    },
    unreachable: 11043,
    name: 'Grace',
  },
  epicgames: {
    settings: { client_ids: ['epic-client'], client_secret: 'epic: secret' },
    authorize: 'https://www.epicgames.com/id/authorize',
    clientId: 'epic-client',
    scope: 'basic_profile openid',
    token: '/epic/oauth/v2/token',
    shows: ({ headers }) =>
      headers.authorization === `Basic ${Buffer.from('epic-client:epic%3A+secret').toString('base64')}`,
    plays: async () => {
      await serveKeys('/epic/oauth/v2/.well-known/jwks.json');
      const id_token = await idToken({
        iss: 'https://api.epicgames.dev/epic/oauth/v2',
        aud: 'epic-client',
        dn: 'Grace',
      });
      await sells('/epic/oauth/v2/token', CASES['epicgames']!.shows, async () => ({ id_token }));
    },
    unreachable: 11049,
    name: 'Grace',
  },
  facebook: {
    settings: { app_id: '99', app_secret: 'facebook secret' },
    authorize: 'https://www.facebook.com/v23.0/dialog/oauth',
    clientId: '99',
    scope: 'public_profile',
    token: '/v23.0/oauth/access_token',
    shows: inBody('99', 'facebook secret'),
    plays: async () => {
      const { person } = given;
      platforms.on('/v23.0/debug_token', ({ query }) => ({
        json: { data: { is_valid: query.get('input_token') === 'of-facebook', app_id: '99', user_id: person } },
      }));
      platforms.on('/v23.0/me', () => ({ json: { id: person, name: 'Grace' } }));
      await sells('/v23.0/oauth/access_token', CASES['facebook']!.shows, async () => ({ access_token: 'of-facebook' }));
    },
    unreachable: 11067,
    name: 'Grace',
  },
  gog: {
    settings: {
      client_id: '46700618453700513',
      ticket_key: Buffer.alloc(32).toString('base64url'),
      client_secret: 'gog secret',
    },
    authorize: 'https://auth.gog.com/auth',
    clientId: '46700618453700513',
    scope: null,
    token: '/token',
    shows: ({ query }) => query.get('client_secret') === 'gog secret',
    plays: async () => {
      const { person } = given;
      platforms.on(`/users/${person}`, () => ({ json: { id: person, username: 'Grace' } }));
      await sells('/token', CASES['gog']!.shows, async () => ({ access_token: 'of-gog', user_id: person }));
    },
    unreachable: 11023,
    name: 'Grace',
  },
  google: {
    settings: { client_ids: ['google-client'], client_secret: 'google secret' },
    authorize: 'https://accounts.google.com/o/oauth2/v2/auth',
    clientId: 'google-client',
    scope: 'openid profile email',
    token: '/token',
    shows: inBody('google-client', 'google secret'),
    plays: async () => {
      await serveKeys('/oauth2/v3/certs');
      const id_token = await idToken({ iss: 'https://accounts.google.com', aud: 'google-client', name: 'Grace' });
      await sells('/token', CASES['google']!.shows, async () => ({ id_token }));
    },
    unreachable: 11057,
    name: 'Grace',
  },
  nintendo: {
    settings: { app_ids: ['0100abcdef012345'], client_id: 'nintendo-client', client_secret: 'nintendo secret' },
    authorize: 'https://accounts.nintendo.com/connect/1.0.0/authorize',
    clientId: 'nintendo-client',
    scope: 'openid user',
    token: '/connect/1.0.0/api/token',
    shows: inHeader('nintendo-client', 'nintendo+secret'),
    plays: async () => {
      await serveKeys('/1.0.0/certificates');
      const { person } = given;
      platforms.on('/2.0.0/users/me', ({ headers }) =>
        headers.authorization === 'Bearer of-nintendo'
          ? { json: { id: person, nickname: 'Grace' } }
          : { status: 401, json: {} },
      );
      const id_token = await idToken({ iss: 'https://accounts.nintendo.com', aud: 'nintendo-client', typ: 'id_token' });
      await sells('/connect/1.0.0/api/token', CASES['nintendo']!.shows, async () => ({
        id_token,
        access_token: 'of-nintendo',
      }));
    },
    unreachable: 11032,
    wrongCode: 11035,
    name: 'Grace',
  },
  psn: {
    settings: {
      client_id: 'psn-client',
      client_secret: 'psn secret',
      web_client_id: 'psn-web',
      web_client_secret: 'web secret',
    },
    authorize: 'https://ca.account.sony.com/api/authz/v3/oauth/authorize',
    clientId: 'psn-web',
    scope: 'openid id_token:psn.basic_claims',
    token: '/api/authz/v3/oauth/token',
    shows: inHeader('psn-web', 'web+secret'),
    plays: async () => {
      await serveKeys('/2.0/oauth/jwks');
      const id_token = await idToken(psnClaims('psn-web'));
      await sells('/api/authz/v3/oauth/token', CASES['psn']!.shows, async () => ({ id_token }));
    },
    unreachable: 11084,
    wrongCode: 11080,
    name: 'Grace',
  },
  xboxlive: {
    settings: {
      relying_party: 'rp://mods.example.com/',
      private_key: pem(relyingParty.privateKey),
      client_id: 'microsoft-client',
      client_secret: 'microsoft secret',
    },
    authorize: 'https://login.live.com/oauth20_authorize.srf',
    clientId: 'microsoft-client',
    scope: 'XboxLive.signin',
    token: '/oauth20_token.srf',
    shows: inBody('microsoft-client', 'microsoft secret'),
    plays: async () => {
      await serveKeys('/xsts/keys');
      const xui = [{ xid: given.person, gtg: 'Grace', agg: 'Adult', prv: '188 247' }];
      const signed = await idToken({ iss: 'xsts.auth.xboxlive.com', aud: 'rp://mods.example.com/', xui });
      const Token = await encryptFor(relyingParty.publicKey, signed);
      const bodyOf = ({ text }: Asked) =>
        JSON.parse(text) as { RelyingParty: string; Properties: Record<string, unknown> };
      platforms.on('/user/authenticate', (asked) =>
        bodyOf(asked).Properties['RpsTicket'] === 'd=of-microsoft'
          ? { json: { Token: 'of-the-person' } }
          : { status: 401, json: {} },
      );
      platforms.on('/xsts/authorize', (asked) => {
        const { RelyingParty, Properties } = bodyOf(asked);
        const isGood =
          RelyingParty === 'rp://mods.example.com/' && String(Properties['UserTokens']) === 'of-the-person';
        return isGood ? { json: { Token } } : { status: 401, json: { XErr: 2_148_916_233 } };
      });
      await sells('/oauth20_token.srf', CASES['xboxlive']!.shows, async () => ({ access_token: 'of-microsoft' }));
    },
    unreachable: 11032,
    name: 'Grace',
  },
};

for (const [portal, { settings }] of Object.entries(CASES)) await setUp(game, portal, settings);
await setUp(game, 'steam', { app_id: '480', ticket_key: 'ab'.repeat(32) });

beforeEach(() => {
  // Longer than any key set is cached, so that each test fetches its own.
  api.clock.advance(100_000);
});

const hinted = (portal: string, more: Record<string, string> = {}) =>
  `/sign-in?${new URLSearchParams({ game: String(game.id), portal, login: 'auto', ...more })}`;

/** Sends a browser to the portal, where the user allows it; returns the redirect address. */
async function goes(browser: Browser, portal: string, person = someone(), path = hinted(portal)): Promise<string> {
  const left = await browser.get(path);
  assert.equal(left.status, 303, left.text);
  return comesBack(left, portal, person);
}

async function comesBack(left: Answer, portal: string, person: string): Promise<string> {
  const query = new URL(left.headers.location!).searchParams;
  const code = `code-${person}-${Math.random()}`;
  given = { code, challenge: query.get('code_challenge')!, redirectUri: query.get('redirect_uri')!, person };
  await CASES[portal]!.plays();
  const back = new URL(given.redirectUri);
  assert.equal(back.origin, SITE);
  return `${back.pathname}?${new URLSearchParams({ code, state: query.get('state')! })}`;
}

const agrees = (browser: Browser, page: Answer) => {
  assert.equal(page.status, 200, page.text);
  assert.match(page.text, /Agree to the terms/);
  return browser.submit(page, { decision: 'agree' });
};

/** The user who is signed in in this browser, as the page shows. */
async function nameIn(browser: Browser): Promise<string | undefined> {
  return /Signed in as ([^<]+)</.exec((await browser.get('/sign-in')).text)?.[1];
}

/** Names are not unique; ids are. */
const idIn = async (browser: Browser): Promise<number | undefined> =>
  (await findSession(api.app(), browser.cookies.get('__Host-modstead_session')))?.user_id;
const idOf = async (token: string): Promise<number> => (await api.withToken(token).call(getAuthenticatedUser)).body.id;

/** A browser with a signed-in user. */
async function signedInAs(userId: number): Promise<Browser> {
  const browser = new Browser(api);
  await browser.get('/sign-in');
  const app = api.app();
  const secret = await app.db.write((transaction) => addSession(app, transaction, userId, 'a test'));
  browser.cookies.set('__Host-modstead_session', secret);
  return browser;
}

function isRefused(answer: Answer, status: number, ref: number): void {
  assert.equal(answer.status, status, answer.text);
  assert.match(answer.text, new RegExp(`Reference ${ref}\\b`));
  assert.equal(answer.headers.location, undefined);
  assert.ok(!(answer.headers['set-cookie'] ?? []).some((line) => line.includes('session=')), 'a session was opened');
}

for (const [portal, each] of Object.entries(CASES)) {
  const { authorize, clientId, scope, token, unreachable, wrongCode = 11032, name } = each;

  test(`${portal}: login=auto redirects to the portal, with state and a challenge`, async () => {
    const left = await new Browser(api).get(hinted(portal));
    assert.equal(left.status, 303);
    const address = new URL(left.headers.location!);
    assert.equal(address.origin + address.pathname, authorize);
    const said = (parameter: string) => address.searchParams.get(parameter);
    assert.deepEqual(
      [said('response_type'), said('client_id'), said('redirect_uri'), said('scope'), said('code_challenge_method')],
      ['code', clientId, `${SITE}/sign-in/${portal}/${game.id}`, scope, 'S256'],
    );
    assert.match(said('code_challenge')!, /^[\w-]{43}$/);
    assert.match(said('state')!, /^[\w-]{43}$/);
  });

  test(`${portal}: a returning user agrees to the terms once and has the same account each time`, async () => {
    const person = someone();
    const first = new Browser(api);
    const entered = await agrees(first, await first.get(await goes(first, portal, person)));
    assert.deepEqual([entered.status, entered.headers.location], [303, '/sign-in']);
    const shown = await nameIn(first);
    assert.match(shown!, name ? /^Grace/ : /^player-/);
    const second = new Browser(api);
    const again = await second.get(await goes(second, portal, person, hinted(portal, { return: '/account' })));
    assert.deepEqual([again.status, again.headers.location], [303, '/account'], again.text);
    assert.equal(await nameIn(second), shown);
    assert.match((await second.get('/account/link')).text, /Unlink/);
  });

  test(`${portal}: a denial, an outage and a refused code sign nobody in`, async () => {
    const browser = new Browser(api);
    const denied = new URL(await goes(browser, portal), SITE);
    denied.searchParams.set('error', 'access_denied');
    isRefused(await browser.get(denied.pathname + denied.search), 401, 11032);
    const without = new URL(await goes(browser, portal), SITE);
    without.searchParams.delete('code');
    isRefused(await browser.get(without.pathname + without.search), 401, 11032);
    const wrong = new URL(await goes(browser, portal), SITE);
    wrong.searchParams.set('code', 'another');
    isRefused(await browser.get(wrong.pathname + wrong.search), 401, wrongCode);
    const away = await goes(browser, portal);
    platforms.down(token);
    isRefused(await browser.get(away), 401, unreachable);
    const empty = await goes(browser, portal);
    platforms.on(token, () => ({ json: {} }));
    const refused = await browser.get(empty);
    assert.ok([401, 403].includes(refused.status), refused.text);
    assert.equal(await nameIn(browser), undefined);
  });

  test(`${portal}: the answer counts only in the browser that started, once, in time, and for this game`, async () => {
    const browser = new Browser(api);
    const back = await goes(browser, portal);
    const stranger = new Browser(api);
    await stranger.get('/sign-in');
    isRefused(await stranger.get(back), 403, 11095);
    isRefused(await new Browser(api).get(back), 403, 11095);
    assert.equal((await browser.get(back)).status, 200);
    isRefused(await browser.get(back), 403, 11095);
    const late = await goes(browser, portal);
    api.clock.advance(600);
    isRefused(await browser.get(late), 403, 11095);
    const other = await api.aGame();
    await setUp(other, portal, CASES[portal]!.settings);
    const elsewhere = (await goes(browser, portal)).replace(`/${game.id}?`, `/${other.id}?`);
    isRefused(await browser.get(elsewhere), 403, 11095);
    isRefused(await browser.get(`/sign-in/${portal}/${game.id}?code=x`), 403, 11095);
    const twice = `${await goes(browser, portal)}&state=x`;
    isRefused(await browser.get(twice), 403, 11095);
  });
}

test('Apple gets a client secret that the game’s key has signed, for five minutes', async () => {
  const browser = new Browser(api);
  await browser.get(await goes(browser, 'apple'));
  const secret = platforms.asked.findLast(({ path }) => path === '/auth/token')!.form.get('client_secret')!;
  const { payload, protectedHeader } = await jwtVerify(secret, appleKey.publicKey, {
    audience: 'https://appleid.apple.com',
    issuer: 'TEAM',
    currentDate: new Date(api.clock.now() * 1_000),
  });
  assert.deepEqual([protectedHeader.alg, protectedHeader.kid], ['ES256', 'KEY']);
  assert.equal(payload.exp! - payload.iat!, 300);
});

test('the issuer in Google’s answer must be Google', async () => {
  const browser = new Browser(api);
  const back = `${await goes(browser, 'google')}&iss=https%3A%2F%2Fevil.example`;
  isRefused(await browser.get(back), 401, 11032);
  const good = `${await goes(browser, 'google')}&iss=https%3A%2F%2Faccounts.google.com`;
  assert.equal((await browser.get(good)).status, 200);
});

test('a child’s account of Xbox is refused', async () => {
  const browser = new Browser(api);
  const back = await goes(browser, 'xboxlive');
  platforms.on('/xsts/authorize', () => ({ status: 401, json: { XErr: 2_148_916_238 } }));
  isRefused(await browser.get(back), 403, 11030);
});

/** Complete settings of the portals whose own tests use fewer. */
const COMPLETE: Record<LinkedPortal, Record<string, string | string[]>> = {
  ...(Object.fromEntries(Object.entries(CASES).map(([portal, { settings }]) => [portal, settings])) as Record<
    LinkedPortal,
    Record<string, string | string[]>
  >),
  itchio: { itch_game_id: '3', client_id: 'itch-client' },
  oculus: { quest_app_id: '7', quest_app_secret: 'quest secret', organization_id: '42' },
  sso: {
    authorize_url: 'https://id.studio.example/authorize',
    token_url: 'https://id.studio.example/token',
    userinfo_url: 'https://id.studio.example/me',
    client_id: 'x',
    client_secret: 'y',
  },
  steam: { app_id: '480', ticket_key: 'ab'.repeat(32) },
};

for (const portal of LINKED_PORTALS)
  test(`${portal}: login=auto works if the game has configured the portal, and not with web=false`, async () => {
    const owned = await api.aGame();
    const path = hinted(portal, { game: String(owned.id) });
    assert.equal((await new Browser(api).get(path)).status, 200, 'redirected to a portal that is not configured');
    const { redirect_uri } = (await setUp(owned, portal, COMPLETE[portal])).body;
    const left = await new Browser(api).get(path);
    assert.equal(left.status, 303, left.text);
    const address = left.headers.location!;
    assert.ok(address.includes(encodeURIComponent(redirect_uri)), address);
    await setUp(owned, portal, { web: 'false' });
    assert.equal((await new Browser(api).get(path)).status, 200, 'redirected although the game turned it off');
  });

/** Tokens of PlayStation and Nintendo with a single defect, and the expected error. */
for (const [portal, what, claims, status, ref] of [
  ['psn', 'of a child', { is_sub_account: true }, 403, 11085],
  ['psn', 'of a user who may not see user-generated content', { ugc_restricted: true }, 403, 11096],
  ['psn', 'of a developer', { env_iss_id: 1 }, 401, 11080],
  ['psn', 'for another client', { aud: 'psn-client' }, 401, 11080],
  ['psn', 'of another issuer', { iss: 'https://evil.example' }, 401, 11080],
  ['psn', 'that has expired', { exp: 1 }, 401, 11082],
  ['psn', 'without a subject', { sub: undefined }, 401, 11080],
  ['nintendo', 'for another client', { aud: 'another' }, 401, 11035],
  ['nintendo', 'of a console', { iss: 'https://e0d67c509fb203858ebcb2fe3f88c2aa.baas.nintendo.com' }, 401, 11038],
  ['nintendo', 'that is no ID token', { typ: 'token' }, 401, 11035],
  ['nintendo', 'that has expired', { exp: 1 }, 401, 11037],
  ['nintendo', 'from the future', { nbf: 4_000_000_000 }, 401, 11036],
  ['nintendo', 'without a subject', { sub: undefined }, 401, 11035],
] as const)
  test(`${portal}: an ID token ${what} is refused`, async () => {
    const browser = new Browser(api);
    const back = await goes(browser, portal);
    const good =
      portal === 'psn' ? psnClaims('psn-web') : { iss: 'https://accounts.nintendo.com', aud: 'nintendo-client' };
    const id_token = await idToken({ ...good, ...claims });
    platforms.on(CASES[portal]!.token, () => ({ json: { id_token } }));
    isRefused(await browser.get(back), status, ref);
  });

for (const [portal, forged, noKeys, keys] of [
  ['psn', 11080, 11083, '/2.0/oauth/jwks'],
  ['nintendo', 11035, 11039, '/1.0.0/certificates'],
] as const)
  test(`${portal}: an ID token that someone else signed is refused, and so is one whose keys are unavailable`, async () => {
    const browser = new Browser(api);
    const back = await goes(browser, portal);
    const claims =
      portal === 'psn' ? psnClaims('psn-web') : { iss: 'https://accounts.nintendo.com', aud: 'nintendo-client' };
    const exp = api.clock.now() + 600;
    const id_token = await new Issuer().sign({ ...claims, sub: given.person, exp });
    platforms.on(CASES[portal]!.token, () => ({ json: { id_token } }));
    isRefused(await browser.get(back), 401, forged);
    api.clock.advance(100_000);
    const again = await goes(browser, portal);
    platforms.down(keys);
    isRefused(await browser.get(again), 401, noKeys);
  });

test('psn: without a web client the game’s client is used, and web and game share one account', async () => {
  const owned = await api.aGame();
  await setUp(owned, 'psn', { client_id: 'psn-client', client_secret: 'psn secret' });
  const browser = new Browser(api);
  const left = await browser.get(hinted('psn', { game: String(owned.id) }));
  assert.equal(new URL(left.headers.location!).searchParams.get('client_id'), 'psn-client');
  const person = someone();
  const back = await comesBack(left, 'psn', person);
  const id_token = await idToken(psnClaims('psn-client'));
  await sells('/api/authz/v3/oauth/token', inHeader('psn-client', 'psn+secret'), async () => ({ id_token }));
  await agrees(browser, await browser.get(back));
  platforms.on('/2.0/oauth/token', () => ({ json: { id_token } }));
  const body = { auth_code: 'a code', terms_agreed: true };
  const played = await api.withKey(owned).call(authenticateViaPsn, { body });
  assert.equal(played.status, 200, played.text);
  assert.equal(await idIn(browser), await idOf(played.body.access_token));
});

test('psn: if the game configures another server, its identities are valid in that game only', async () => {
  const person = someone();
  const first = new Browser(api);
  await agrees(first, await first.get(await goes(first, 'psn', person)));
  const own = await api.aGame();
  await setUp(own, 'psn', {
    ...CASES['psn']!.settings,
    web_token_url: 'https://evil.example/api/authz/v3/oauth/token',
    authorize_url: 'https://my.account.sony.com/authorize',
  });
  const second = new Browser(api);
  const left = await second.get(hinted('psn', { game: String(own.id) }));
  assert.match(left.headers.location!, /^https:\/\/my\.account\.sony\.com\/authorize\?/);
  await agrees(second, await second.get(await comesBack(left, 'psn', person)));
  assert.ok(await idIn(second));
  assert.notEqual(await idIn(second), await idIn(first));
});

test('nintendo: an account differs from the console’s with the same id until the user links it', async () => {
  const person = someone();
  const console = {
    iss: 'https://e0d67c509fb203858ebcb2fe3f88c2aa.baas.nintendo.com',
    nintendo: { ai: '0100abcdef012345' },
    sub: person,
    iat: api.clock.now(),
    exp: api.clock.now() + 600,
  };
  await serveKeys('/1.0.0/certificates');
  const body = { id_token: await issuer.sign(console), terms_agreed: true };
  const played = await api.withKey(game).call(authenticateViaSwitch, { body });
  assert.equal(played.status, 200, played.text);
  const stranger = new Browser(api);
  await agrees(stranger, await stranger.get(await goes(stranger, 'nintendo', person)));
  const id = await idOf(played.body.access_token);
  assert.notEqual(await idIn(stranger), id);

  // The console’s user opens the site in a browser where they are signed in, and links their account.
  const browser = await signedInAs(id);
  const page = await browser.get(`/account/link?game=${game.id}`);
  assert.match(page.text, /Unlink Nintendo/);
  const account = someone();
  const linked = await browser.get(
    await comesBack(await browser.submit(page, { link: 'nintendo' }), 'nintendo', account),
  );
  assert.deepEqual([linked.status, linked.headers.location], [303, `/account/link?game=${game.id}`], linked.text);
  assert.doesNotMatch((await browser.get(`/account/link?game=${game.id}`)).text, />Link Nintendo/);
  const { data } = (await api.withToken(played.body.access_token).call(getConnections)).body;
  assert.deepEqual(
    data.map(({ portal_user_id, game_id }) => [portal_user_id, game_id]).sort(),
    [
      [person, 0],
      [`account/${account}`, game.id],
    ].sort(),
  );
  const later = new Browser(api);
  assert.equal((await later.get(await goes(later, 'nintendo', account))).status, 303);
  assert.equal(await idIn(later), id);
});

const NAMESPACE = 'http://specs.openid.net/auth/2.0';
const STEAM = 'https://steamcommunity.com/openid/login';

/** The address with Steam’s answer. */
function steamAnswer(left: Answer, steamId: string, more: Record<string, string> = {}): string {
  const asked = new URL(left.headers.location!);
  assert.equal(asked.origin + asked.pathname, STEAM);
  assert.equal(asked.searchParams.get('openid.realm'), SITE);
  const returnTo = new URL(asked.searchParams.get('openid.return_to')!);
  const claimed = `https://steamcommunity.com/openid/id/${steamId}`;
  const said = {
    ns: NAMESPACE,
    mode: 'id_res',
    op_endpoint: STEAM,
    claimed_id: claimed,
    identity: claimed,
    return_to: returnTo.href,
    response_nonce: `${new Date(api.clock.now() * 1_000).toISOString().replace('.000', '')}x1`,
    assoc_handle: '1234567890',
    signed: 'signed,op_endpoint,claimed_id,identity,return_to,response_nonce,assoc_handle',
    sig: 'c2lnbmVk',
    ...more,
  };
  for (const [name, value] of Object.entries(said)) returnTo.searchParams.set(`openid.${name}`, value);
  return returnTo.pathname + returnTo.search;
}

const steamSays = (text: string) =>
  platforms.on('/openid/login', ({ method, form }) => ({
    json:
      method === 'POST' && form.get('openid.mode') === 'check_authentication' && form.get('openid.sig') === 'c2lnbmVk'
        ? text
        : 'no',
  }));
const VALID = `ns:${NAMESPACE}\nis_valid:true\n`;

test('Steam: a returning user is whom Steam confirms', async () => {
  const browser = new Browser(api);
  const steamId = '76561197960287930';
  steamSays(VALID);
  const page = await browser.get(steamAnswer(await browser.get(hinted('Steam')), steamId));
  assert.equal((await agrees(browser, page)).status, 303);
  const { id } = await api
    .app()
    .db.query.selectFrom('users')
    .select('id')
    .orderBy('id', 'desc')
    .executeTakeFirstOrThrow();
  const { data } = (await (await api.as({ id })).call(getConnections)).body;
  assert.deepEqual([data[0]?.portal, data[0]?.portal_user_id], ['steam', steamId]);
});

for (const [what, change] of Object.entries<Record<string, string>>({
  'of another server': { op_endpoint: 'https://evil.example/openid/login' },
  'about an id of another site': {
    claimed_id: 'https://evil.example/openid/id/76561197960287930',
    identity: 'https://evil.example/openid/id/76561197960287930',
  },
  'with a path after the id': {
    claimed_id: 'https://steamcommunity.com/openid/id/76561197960287930/x',
    identity: 'https://steamcommunity.com/openid/id/76561197960287930/x',
  },
  'whose two ids differ': { identity: 'https://steamcommunity.com/openid/id/76561197960287931' },
  'for another site': { return_to: 'https://evil.example/sign-in/steam/1' },
  'that is cancelled': { mode: 'cancel' },
  'of another protocol': { ns: 'http://openid.net/signon/1.1' },
  'whose id is not signed': { signed: 'op_endpoint,identity,return_to,response_nonce,assoc_handle' },
  'that is a day old': { response_nonce: '2027-01-13T00:00:00Zx' },
  'from the future': { response_nonce: '2099-01-01T00:00:00Zx' },
  'without a time': { response_nonce: 'x' },
}))
  test(`Steam: an answer ${what} is refused without asking Steam`, async () => {
    const browser = new Browser(api);
    steamSays(VALID);
    const before = platforms.timesAsked('/openid/login');
    const back = steamAnswer(await browser.get(hinted('steam')), '76561197960287930', change);
    isRefused(await browser.get(back), 401, 11032);
    assert.equal(platforms.timesAsked('/openid/login'), before);
  });

test('Steam: an answer that Steam does not or cannot confirm is refused', async () => {
  const browser = new Browser(api);
  const answer = async () => steamAnswer(await browser.get(hinted('steam')), '76561197960287930');
  for (const said of [`ns:${NAMESPACE}\nis_valid:false\n`, 'is_valid:true\n', `${NAMESPACE} is_valid:true`, '']) {
    steamSays(said);
    isRefused(await browser.get(await answer()), 401, 11032);
  }
  platforms.down('/openid/login');
  isRefused(await browser.get(await answer()), 401, 11020);
});

test('the page shows a link for each portal, the requested one first, and no script', async () => {
  const { text } = await new Browser(api).get(`/sign-in?game=${game.id}&portal=gog`);
  const labels = [...text.matchAll(/<a class="button[^"]*" href="[^"]*">([^<]*)<\/a>/g)].map(([, label]) => label);
  assert.equal(labels[0], 'Continue with GOG');
  assert.deepEqual(
    labels.slice(1),
    ['Apple', 'Discord', 'Epic Games', 'Facebook', 'Google', 'Nintendo', 'PlayStation™Network', 'Steam', 'Xbox'].map(
      (name) => `Continue with ${name}`,
    ),
  );
  assert.match(text, /name="email"/);
  assert.doesNotMatch(text, /<script/);
});

test('a link on the page leads to its portal', async () => {
  const browser = new Browser(api);
  const { text } = await browser.get(`/sign-in?game=${game.name_id}&return=%2Faccount`);
  const [, href] = /href="([^"]*)">Continue with Discord/.exec(text)!;
  const left = await browser.get(href!.replaceAll('&amp;', '&'));
  assert.match(left.headers.location!, /^https:\/\/discord\.com\/oauth2\/authorize\?/);
  const page = await browser.get(await comesBack(left, 'discord', someone()));
  assert.equal((await agrees(browser, page)).headers.location, '/account');
});

for (const [language, text] of [
  ['en', 'Signing in with PlayStation™Network is not available here.'],
  ['de', 'Die Anmeldung mit PlayStation™Network ist hier nicht möglich.'],
  ['fr', 'La connexion avec PlayStation™Network n’est pas disponible ici.'],
  ['es', 'Aquí no se puede iniciar sesión con PlayStation™Network.'],
  ['ja', 'ここではPlayStation™Networkでサインインできません。'],
  ['zh-CN', '此处无法使用 PlayStation™Network 登录。'],
])
  test(`a portal that the game does not use gets a message in ${language} beside the ordinary sign-in`, async () => {
    const bare = await api.aGame();
    const path = hinted('psn', { game: String(bare.id) });
    const page = await new Browser(api, 'production', { 'accept-language': language! }).get(path);
    assert.equal(page.status, 200);
    assert.ok(page.text.includes(text!), page.text);
    assert.match(page.text, /name="email"/);
  });

test('hints with an unknown name, no game or an unconfigured portal do not redirect', async () => {
  const bare = await api.aGame();
  const quiet = await api.aGame();
  await setUp(quiet, 'discord', { ...CASES['discord']!.settings, web: 'false' });
  for (const [path, isTold] of [
    [hinted('myspace'), false],
    [hinted('itchio'), true],
    [hinted('oculus'), true],
    ['/sign-in?portal=steam&login=auto', true],
    ['/sign-in?game=999999&portal=steam&login=auto', true],
    ['/sign-in?game=no-such-game&portal=steam&login=auto', true],
    [`/sign-in?game=${bare.id}&portal=steam&login=auto`, true],
    [`/sign-in?game=${quiet.id}&portal=discord&login=auto`, true],
  ] as const) {
    const page = await new Browser(api).get(path);
    assert.equal(page.status, 200, path);
    assert.equal(page.text.includes('class="note"'), isTold, path);
    assert.match(page.text, /name="email"/);
  }
});

test('the hint may be in the return address of the sign-in page', async () => {
  for (const page of [
    `/g/${game.name_id}/m/a-mod?portal=steam&login=auto`,
    `/account/link?game=${game.id}&portal=STEAM&login=auto`,
  ]) {
    const left = await new Browser(api).get(`/sign-in?return=${encodeURIComponent(page)}`);
    assert.equal(left.status, 303, page);
    assert.ok(left.headers.location!.startsWith(STEAM), page);
  }
  const browser = new Browser(api);
  const sent = await browser.get(`/account/link?game=${game.id}&portal=steam&login=auto`);
  assert.ok((await browser.get(sent.headers.location!)).headers.location!.startsWith(STEAM));
});

test('T12: a game that is not accepted redirects no browser, and only a link on our page leads on', async () => {
  const hidden = await api.aGame({ accepted: false });
  await setUp(hidden, 'sso', {
    authorize_url: 'https://phishing.example/login',
    token_url: 'https://phishing.example/token',
    userinfo_url: 'https://phishing.example/me',
    client_id: 'x',
    client_secret: 'y',
  });
  const path = `/sign-in?game=${hidden.id}&portal=studio&login=auto`;
  const browser = new Browser(api);
  const page = await browser.get(path);
  assert.deepEqual([page.status, page.headers.location], [200, undefined]);
  assert.match(page.text, /Continue with the studio’s account at phishing\.example/);
  for (const chosen of ['1', 'x'.repeat(43)]) assert.equal((await browser.get(`${path}&chosen=${chosen}`)).status, 200);
  const [, href] = /href="([^"]*)">Continue with the studio/.exec(page.text)!;
  const chosen = href!.replaceAll('&amp;', '&');
  assert.equal((await new Browser(api).get(chosen)).status, 200, 'the link of one browser works in another');
  assert.equal((await browser.get(chosen)).status, 303);
});

test('T12: signing in through a portal leads back to this site alone', async () => {
  for (const target of ['https://evil.example/', '//evil.example', '/\\evil.example', 'javascript:alert(1)']) {
    const browser = new Browser(api);
    const path = await goes(browser, 'discord', someone(), hinted('discord', { return: target }));
    const entered = await agrees(browser, await browser.get(path));
    assert.equal(entered.headers.location, '/sign-in', target);
  }
});

test('a user who does not agree gets no account and no session', async () => {
  const browser = new Browser(api);
  const count = async () =>
    (
      await api
        .app()
        .db.query.selectFrom('users')
        .select((eb) => eb.fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
    ).n;
  const before = await count();
  const page = await browser.get(await goes(browser, 'discord'));
  const left = await browser.submit(page, { decision: 'disagree' });
  assert.deepEqual([left.status, left.headers.location], [303, '/sign-in']);
  assert.equal(await nameIn(browser), undefined);
  assert.equal(await count(), before);
});

test('with new terms in force every user is asked again, on the web and in the game', async () => {
  const person = someone();
  const browser = new Browser(api);
  await agrees(browser, await browser.get(await goes(browser, 'discord', person)));
  const admin = await api.as(await api.aUser({ admin: true }));
  const texts = { type: 1, name: 'Terms of Use', changelog: 'New', description: '<p>Words</p>' };
  const { id } = (await admin.call(addAgreementVersion, { body: texts })).body;
  const params = { agreement_version_id: id };
  assert.equal((await admin.call(editAgreementVersion, { params, body: { is_active: true } })).status, 200);
  const body = { discord_token: 'of-discord' };
  await api.withKey(game).refused(authenticateViaDiscord, { body }, 403, 11074);
  const again = new Browser(api);
  await agrees(again, await again.get(await goes(again, 'discord', person)));
  assert.equal((await api.withKey(game).call(authenticateViaDiscord, { body })).status, 200);
  const third = new Browser(api);
  assert.equal((await third.get(await goes(third, 'discord', person))).status, 303);
});

test('consent counts once, in the browser that was asked', async () => {
  const browser = new Browser(api);
  const page = await browser.get(await goes(browser, 'discord'));
  const [, token] = /name="token" value="([^"]+)"/.exec(page.text)!;
  const thief = new Browser(api);
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec((await thief.get('/sign-in')).text)!;
  const stolen = await thief.post(`/sign-in/discord/${game.id}`, { csrf, token, decision: 'agree' });
  isRefused(stolen, 403, 11095);
  isRefused(await browser.post(`/sign-in/discord/${game.id}`, { token, decision: 'agree' }), 403, 11095);
  assert.equal((await browser.submit(page, { decision: 'agree' })).status, 303);
  isRefused(await browser.submit(page, { decision: 'agree' }), 403, 11095);
});

test('an address that Google confirmed and that has an account must sign in by email and link', async () => {
  const email = 'grace.web@example.org';
  const grace = await api.aUser({ email, username: 'Grace Web' });
  const browser = new Browser(api);
  const back = await goes(browser, 'google');
  const id_token = await idToken({
    iss: 'https://accounts.google.com',
    aud: 'google-client',
    email,
    email_verified: true,
  });
  platforms.on('/token', () => ({ json: { id_token } }));
  const asked = await browser.get(back);
  isRefused(await agrees(browser, asked), 403, 11133);
  const account = await browser.signIn(`/account/link?game=${game.id}`, email);
  const left = await browser.submit(account, { link: 'google' });
  assert.equal(left.status, 303, left.text);
  const linked = await browser.get(await comesBack(left, 'google', given.person));
  assert.deepEqual([linked.status, linked.headers.location], [303, `/account/link?game=${game.id}`], linked.text);
  const { data } = (await (await api.as(grace)).call(getConnections)).body;
  assert.deepEqual(
    data.map(({ portal }) => portal),
    ['google'],
  );
});

test('users link and unlink portals on their account page, but not the last way to sign in', async () => {
  const person = someone();
  const browser = new Browser(api);
  await agrees(browser, await browser.get(await goes(browser, 'discord', person)));
  const page = await browser.get(`/account/link?game=${game.id}`);
  assert.match(page.text, /Discord · Grace/);
  assert.doesNotMatch(page.text, /Link Discord/);
  const [, id] = /name="unlink" value="(\d+)"/.exec(page.text)!;
  const kept = await browser.submit(page, { unlink: id });
  assert.equal(kept.status, 403);
  assert.match(kept.text, /Reference 17021/);
  const left = await browser.submit(page, { link: 'facebook' });
  const linked = await browser.get(await comesBack(left, 'facebook', someone()));
  assert.equal(linked.status, 303, linked.text);
  assert.equal((await browser.submit(page, { unlink: id })).status, 303);
  const after = await browser.get(`/account/link?game=${game.id}`);
  assert.match(after.text, /Link Discord/);
  assert.match(after.text, /Unlink Facebook/);
  const gone = await browser.submit(page, { unlink: id });
  assert.equal(gone.status, 404);
  assert.match(gone.text, /Reference 17031/);
  const mine = /name="unlink" value="(\d+)"/.exec(after.text)![1];
  const other = new Browser(api);
  const account = await other.signIn('/account/link', 'unlinks@example.org');
  assert.match(account.text, /No accounts are linked yet/);
  const [, csrf] = /name="csrf" value="([^"]+)"/.exec((await other.get('/sign-out')).text)!;
  assert.equal((await other.post('/account/link', { csrf, unlink: mine })).status, 404);
  assert.equal((await other.post('/account/link', { csrf, link: 'discord' })).status, 404);
});

test('T17: linking starts with a form of ours and ends with the user who started it', async () => {
  const victim = new Browser(api);
  const page = await victim.signIn(`/account/link?game=${game.id}`, 'victim@example.org');
  const forged = await victim.post(`/account/link?game=${game.id}`, { link: 'discord' });
  isRefused(forged, 403, 11095);
  const left = await victim.submit(page, { link: 'discord' });
  const back = await comesBack(left, 'discord', someone());
  const attacker = new Browser(api);
  await attacker.signIn('/account/link', 'attacker@example.org');
  isRefused(await attacker.get(back), 403, 11095);
  // Another user is signed in in the same browser by now.
  const session = [...attacker.cookies].find(([name]) => name.endsWith('session'))!;
  const own = victim.cookies.get(session[0])!;
  victim.cookies.set(...session);
  isRefused(await victim.get(back), 403, 11095);
  victim.cookies.set(session[0], own);
  assert.match((await victim.get('/account/link')).text, /No accounts are linked yet/);
});

test('T17: a portal account of another user cannot be linked again', async () => {
  const person = someone();
  const owner = new Browser(api);
  await agrees(owner, await owner.get(await goes(owner, 'discord', person)));
  const other = new Browser(api);
  const page = await other.signIn(`/account/link?game=${game.id}`, 'second@example.org');
  const left = await other.submit(page, { link: 'discord' });
  isRefused(await other.get(await comesBack(left, 'discord', person)), 400, 17033);
});

test('T23: the session id changes at sign-in, so that a fixed one is useless', async () => {
  const browser = new Browser(api);
  await browser.get('/sign-in');
  const fixed = new Map(browser.cookies);
  await agrees(browser, await browser.get(await goes(browser, 'discord')));
  for (const [name, value] of fixed) assert.notEqual(browser.cookies.get(name), value, name);
  const attacker = new Browser(api);
  for (const [name, value] of fixed) attacker.cookies.set(name, value);
  assert.equal(await nameIn(attacker), undefined);
});

test('administrators see the redirect URI for the portal, and never a secret', async () => {
  const { data } = (await (await api.as(game.owner)).call(getGamePortals, { params: { game_id: game.id } })).body;
  const discord = data.find(({ portal }) => portal === 'discord');
  assert.equal(discord?.redirect_uri, `${SITE}/sign-in/discord/${game.id}`);
  assert.deepEqual(discord?.secrets, ['client_secret']);
  const itchio = await setUp(game, 'itchio', { itch_game_id: '3' });
  assert.equal(itchio.body.redirect_uri, `${SITE}/sign-in/itchio/${game.id}`);
  await (await api.as(game.owner)).call(deleteGamePortal, { params: { game_id: game.id, portal: 'itchio' } });
});

test('the settings for Apple are required together, and the private key must be valid', async () => {
  const administrator = await api.as(game.owner);
  const params = { game_id: (await api.aGame({ owner: game.owner })).id, portal: 'apple' };
  const body = { bundle_ids: ['x'], services_id: 'y', private_key: 'no key' };
  const { error } = (await administrator.refused(editGamePortal, { params, body }, 422, 13009)).body;
  assert.deepEqual(Object.keys(error.errors ?? {}).sort(), ['key_id', 'private_key', 'team_id']);
});

for (const [portal, sent, missing] of [
  ['nintendo', { app_ids: ['0100abcdef012345'], client_id: 'x' }, 'client_secret'],
  ['psn', { client_id: 'x', client_secret: 'y', web_client_id: 'z' }, 'web_client_secret'],
  ['oculus', { organization_id: 'no number' }, 'organization_id'],
  ['psn', { client_id: 'x', client_secret: 'y', authorize_url: 'http://sony.com/' }, 'authorize_url'],
  ['psn', { client_id: 'x', client_secret: 'y', authorize_url: 'https://evilsony.com/' }, 'authorize_url'],
  ['nintendo', { app_ids: ['0100abcdef012345'], authorize_url: 'javascript:alert(1)' }, 'authorize_url'],
  ['nintendo', { app_ids: ['0100abcdef012345'], authorize_url: 'https://nintendo.com.evil.example/' }, 'authorize_url'],
] as const)
  test(`${portal}: unusable settings for the web are refused by name: ${missing} of ${JSON.stringify(sent)}`, async () => {
    const owned = await api.aGame();
    const params = { game_id: owned.id, portal };
    const body = Object.fromEntries(Object.entries(sent)) as Record<string, string | string[]>;
    const refused = await (await api.as(owned.owner)).refused(editGamePortal, { params, body }, 422, 13009);
    assert.deepEqual(Object.keys(refused.body.error.errors ?? {}), [missing]);
  });

test('abandoned web sign-ins are deleted from the database', async () => {
  await new Browser(api).get(hinted('discord'));
  const count = async () =>
    Number(
      (
        await api
          .app()
          .db.query.selectFrom('portal_journeys')
          .select((eb) => eb.fn.countAll().as('n'))
          .executeTakeFirstOrThrow()
      ).n,
    );
  assert.ok((await count()) > 0);
  api.clock.advance(601);
  await forgetOutdated(api.app());
  assert.equal(await count(), 0);
});
