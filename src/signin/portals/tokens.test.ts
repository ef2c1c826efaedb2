import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import type { JWTPayload } from 'jose';
import { startApi } from '../../../test/api.ts';
import { encryptFor, Issuer, startPlatforms } from '../../../test/platforms.ts';
import { getAuthenticatedUser } from '../../people/users/operations.ts';
import type { AnyOperation } from '../../platform/http/operation.ts';
import {
  authenticateViaApple,
  authenticateViaEpicgames,
  authenticateViaGoogle,
  authenticateViaOpenid,
  authenticateViaPsn,
  authenticateViaPsnSdk,
  authenticateViaSwitch,
  authenticateViaXboxLive,
  editGamePortal,
  getConnections,
} from './operations.ts';

const platforms = await startPlatforms();
const api = await startApi({ settings: platforms.settings });
const issuer = new Issuer();
const stranger = new Issuer();
const relyingParty = generateKeyPairSync('rsa', { modulusLength: 2048 });
const SITE = 'https://localhost';

const KEYS = {
  apple: '/auth/keys',
  google: '/oauth2/v3/certs',
  epicgames: '/epic/oauth/v2/.well-known/jwks.json',
  nintendo: '/1.0.0/certificates',
  psn: '/2.0/oauth/jwks',
  xboxlive: '/xsts/keys',
  sso: '/studio/jwks.json',
} as const;
type TokenPortal = keyof typeof KEYS;

const game = await api.aGame();
const key = api.withKey(game);
const administrator = await api.as(game.owner);
const NINTENDO_APP = '0100abcdef012345';
const SETTINGS: Record<TokenPortal, Record<string, string | string[]>> = {
  apple: { bundle_ids: ['com.example.game'] },
  google: { client_ids: ['google-client'], client_secret: 'google secret' },
  epicgames: { client_ids: ['epic-client'] },
  nintendo: { app_ids: [NINTENDO_APP] },
  psn: { client_id: 'psn-client', client_secret: 'psn secret' },
  xboxlive: {
    relying_party: 'rp://mods.example.com/',
    private_key: relyingParty.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  },
  sso: { jwks_url: platforms.url + KEYS.sso, active: 'true' },
};
for (const [portal, body] of Object.entries(SETTINGS))
  await administrator.call(editGamePortal, { params: { game_id: game.id, portal }, body });

interface Case {
  readonly operation: AnyOperation;
  readonly claims: JWTPayload;
  /** The expected errors: status and reference. */
  readonly invalid: [number, number];
  readonly early: [number, number];
  readonly late: [number, number];
  readonly issuer: [number, number];
  readonly audience: [number, number];
  readonly forged: [number, number];
  readonly keys: [number, number];
  readonly skew: number;
  readonly body: (token: string) => Promise<Record<string, string>>;
}

const idToken = async (id_token: string) => ({ id_token });
/** The platform redeems any code for this token. */
const codeFor = async (id_token: string) => {
  platforms.on('/2.0/oauth/token', () => ({ json: { id_token } }));
  return { auth_code: 'a code' };
};

const CASES: Record<TokenPortal, Case> = {
  apple: {
    operation: authenticateViaApple,
    claims: { iss: 'https://appleid.apple.com', aud: 'com.example.game' },
    invalid: [401, 11201],
    early: [401, 11201],
    late: [401, 11202],
    issuer: [401, 11201],
    audience: [403, 11205],
    forged: [401, 11201],
    keys: [401, 11032],
    skew: 60,
    body: idToken,
  },
  google: {
    operation: authenticateViaGoogle,
    claims: { iss: 'https://accounts.google.com', aud: 'google-client', name: 'Grace' },
    invalid: [401, 11052],
    early: [400, 11053],
    late: [401, 11054],
    issuer: [401, 11055],
    audience: [401, 11052],
    forged: [401, 11052],
    keys: [401, 11056],
    skew: 60,
    body: idToken,
  },
  epicgames: {
    operation: authenticateViaEpicgames,
    claims: { iss: 'https://api.epicgames.dev/epic/oauth/v2', aud: 'epic-client', dn: 'Grace' },
    invalid: [401, 11044],
    early: [401, 11045],
    late: [401, 11046],
    issuer: [401, 11047],
    audience: [401, 11044],
    forged: [401, 11044],
    keys: [401, 11048],
    skew: 60,
    body: idToken,
  },
  nintendo: {
    operation: authenticateViaSwitch,
    claims: {
      iss: 'https://e0d67c509fb203858ebcb2fe3f88c2aa.baas.nintendo.com',
      aud: 'ignored',
      nintendo: { ai: NINTENDO_APP },
    },
    invalid: [401, 11035],
    early: [401, 11036],
    late: [401, 11037],
    issuer: [401, 11038],
    audience: [403, 11041],
    forged: [401, 11035],
    keys: [401, 11039],
    skew: 60,
    body: idToken,
  },
  psn: {
    operation: authenticateViaPsn,
    claims: { iss: 'https://auth.api.sonyentertainmentnetwork.com', aud: 'psn-client', online_id: 'Grace' },
    invalid: [401, 11080],
    early: [401, 11081],
    late: [401, 11082],
    issuer: [401, 11080],
    audience: [401, 11080],
    forged: [401, 11080],
    keys: [401, 11083],
    skew: 60,
    body: codeFor,
  },
  xboxlive: {
    operation: authenticateViaXboxLive,
    claims: { iss: 'xsts.auth.xboxlive.com', aud: 'rp://mods.example.com/' },
    invalid: [401, 11027],
    early: [401, 11027],
    late: [401, 11029],
    issuer: [401, 11027],
    audience: [401, 11027],
    forged: [401, 11027],
    keys: [401, 11042],
    skew: 60,
    body: async (token) => ({ xbox_token: `XBL3.0 x=123;${await encryptFor(relyingParty.publicKey, token)}` }),
  },
  sso: {
    operation: authenticateViaOpenid,
    claims: { iss: 'https://id.example.com', aud: SITE, name: 'Grace' },
    invalid: [401, 11094],
    early: [401, 11092],
    late: [401, 11093],
    issuer: [200, 0],
    audience: [401, 11091],
    forged: [401, 11089],
    keys: [401, 11090],
    skew: 10,
    body: idToken,
  },
};

let people = 0;
/** Claims of a new user, valid for ten minutes. */
function claimsOf(portal: TokenPortal, more: JWTPayload = {}): JWTPayload {
  people += 1;
  const now = api.clock.now();
  const xui = [{ xid: String(2_533_000 + people), gtg: 'Grace', agg: 'Adult', prv: '188 247 254' }];
  const person = portal === 'xboxlive' ? { xui } : { sub: `person-${people}` };
  return { ...CASES[portal].claims, iat: now, nbf: now, exp: now + 600, ...person, ...more };
}

beforeEach(async () => {
  // Longer than any key set is cached, so that each test fetches its own.
  api.clock.advance(100_000);
  const keys = [await issuer.jwk()];
  for (const path of Object.values(KEYS)) platforms.on(path, () => ({ json: { keys } }));
});

for (const portal of Object.keys(CASES) as TokenPortal[]) {
  const { operation, body, skew, ...refs } = CASES[portal];
  const signIn = async (token: string) => key.call(operation, { body: { ...(await body(token)), terms_agreed: true } });
  const refused = async (token: string, [status, ref]: [number, number]) =>
    key.refused(operation, { body: { ...(await body(token)), terms_agreed: true } }, status, ref);

  test(`${portal}: a token signed by its issuer signs in and provides the name`, async () => {
    const answer = await signIn(await issuer.sign(claimsOf(portal)));
    assert.equal(answer.status, 200, answer.text);
    const { access_token, date_expires } = answer.body as { access_token: string; date_expires: number };
    assert.equal(date_expires, api.clock.now() + 365 * 86_400);
    const [connection] = (await api.withToken(access_token).call(getConnections)).body.data;
    assert.equal(connection?.portal, portal);
    assert.equal(connection?.display_name, ['apple', 'nintendo'].includes(portal) ? '' : 'Grace');
  });

  test(`${portal}: a token signed by someone else is refused, whatever its header says about keys`, async () => {
    const claims = claimsOf(portal);
    await refused(await stranger.sign(claims), refs.forged);
    const jwk = await stranger.jwk();
    platforms.on('/stranger', () => ({ json: { keys: [jwk] } }));
    const asked = platforms.asked.length;
    const url = `${platforms.url}/stranger`;
    for (const header of [{ jku: url }, { x5u: url }, { jwk }, { kid: '../../stranger' }, { kid: "' or 1=1 --" }])
      await refused(await stranger.sign(claims, header), refs.forged);
    assert.equal(
      platforms.asked.slice(asked).filter((each) => each.path === '/stranger').length,
      0,
      'an address in a token was fetched',
    );
  });

  test(`${portal}: an unsigned token and a public key used as a shared secret are refused`, async () => {
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const claims = claimsOf(portal);
    await refused(`${part({ alg: 'none', kid: issuer.kid })}.${part(claims)}.`, refs.invalid);
    const signed = `${part({ alg: 'HS256', kid: issuer.kid })}.${part(claims)}`;
    const secret = issuer.publicKey.export({ type: 'spki', format: 'pem' });
    await refused(`${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`, refs.invalid);
    const critical = `${part({ alg: 'RS256', kid: issuer.kid, crit: ['x'], x: 1 })}.${part(claims)}`;
    const signature = sign('sha256', Buffer.from(critical), issuer.privateKey).toString('base64url');
    await refused(`${critical}.${signature}`, refs.invalid);
    await refused('no token at all', refs.invalid);
    const nested = await encryptFor(issuer.publicKey, await issuer.sign(claims));
    await refused(nested, refs.invalid);
  });

  test(`${portal}: the last value of a duplicate claim counts, as for the issuer`, async () => {
    const good = JSON.stringify(claimsOf(portal));
    const expired = `${good.slice(0, -1)},"exp":${api.clock.now() - 1_000}}`;
    const head = Buffer.from(JSON.stringify({ alg: 'RS256', kid: issuer.kid })).toString('base64url');
    const text = `${head}.${Buffer.from(expired).toString('base64url')}`;
    await refused(`${text}.${sign('sha256', Buffer.from(text), issuer.privateKey).toString('base64url')}`, refs.late);
  });

  test(`${portal}: expired tokens, tokens from the future and tokens without expiry are refused`, async () => {
    const now = api.clock.now();
    await refused(await issuer.sign(claimsOf(portal, { exp: now - skew - 1 })), refs.late);
    await refused(await issuer.sign(claimsOf(portal, { nbf: now + skew + 1 })), refs.early);
    await refused(await issuer.sign(claimsOf(portal, { iat: now + skew + 1 })), refs.early);
    const { exp: _, ...endless } = claimsOf(portal);
    await refused(await issuer.sign(endless), refs.invalid);
    const late = await signIn(await issuer.sign(claimsOf(portal, { exp: now - skew + 1 })));
    assert.equal(late.status, 200, 'clocks may differ a little');
  });

  test(`${portal}: tokens for another audience or from another issuer are refused`, async () => {
    const foreign = portal === 'nintendo' ? { nintendo: { ai: 'ffffffffffffffff' } } : { aud: 'https://elsewhere' };
    await refused(await issuer.sign(claimsOf(portal, foreign)), refs.audience);
    const [status] = refs.issuer;
    const byOthers = await issuer.sign(claimsOf(portal, { iss: 'https://elsewhere.example' }));
    if (status === 200) assert.equal((await signIn(byOthers)).status, 200);
    else await refused(byOthers, refs.issuer);
  });

  test(`${portal}: tokens are refused while the issuer’s keys are unavailable, and new keys are fetched`, async (t) => {
    api.stayInOneProcess(t);
    const token = await issuer.sign(claimsOf(portal));
    platforms.down(KEYS[portal]);
    await refused(token, refs.keys);
    platforms.on(KEYS[portal], () => ({ status: 503, json: {} }));
    await refused(token, refs.keys);
    const [old, next] = [await issuer.jwk(), new Issuer('second')];
    const added = await next.jwk();
    platforms.on(KEYS[portal], () => ({ json: { keys: [old] } }));
    await signIn(token);
    const before = platforms.timesAsked(KEYS[portal]);
    api.clock.advance(30);
    platforms.on(KEYS[portal], () => ({ json: { keys: [old, added] } }));
    assert.equal((await signIn(await next.sign(claimsOf(portal)))).status, 200);
    assert.equal(platforms.timesAsked(KEYS[portal]), before + 1);
    for (let forgeries = 0; forgeries < 3; forgeries += 1)
      await refused(await stranger.sign(claimsOf(portal)), refs.forged);
    assert.equal(platforms.timesAsked(KEYS[portal]), before + 1, 'forged tokens made us ask again');
  });
}

for (const portal of ['nintendo', 'psn', 'xboxlive'] as const)
  test(`T18: ${portal}: an identity from a server of the game’s own choice is valid in that game only`, async () => {
    const { operation, body } = CASES[portal];
    const person = async (access: string) => (await api.withToken(access).call(getConnections)).body.data[0]!;
    const enters = async (through: typeof key, token: string) => {
      const answer = await through.call(operation, { body: { ...(await body(token)), terms_agreed: true } });
      assert.equal(answer.status, 200, answer.text);
      return person((answer.body as { access_token: string }).access_token);
    };
    const claims = claimsOf(portal);
    const own = await enters(key, await issuer.sign({ ...claims, jti: 'own' }));
    assert.equal(own.game_id, 0);
    const playsElsewhere = async (keysUrl: string, jti: string) => {
      const other = await api.aGame();
      const params = { game_id: other.id, portal };
      const settings = { ...SETTINGS[portal], keys_url: keysUrl };
      await (await api.as(other.owner)).call(editGamePortal, { params, body: settings });
      return [other.id, await enters(api.withKey(other), await issuer.sign({ ...claims, jti }))] as const;
    };
    for (const address of [
      'https://evil.example',
      'https://evilnintendo.com',
      'http://x.sony.com',
      'http://x.xbox.com',
    ]) {
      const [gameId, forged] = await playsElsewhere(address + KEYS[portal], address);
      assert.equal(forged.game_id, gameId, address);
      assert.notEqual(forged.id, own.id, address);
    }
    const domain = { nintendo: 'nintendo.com', psn: 'sony.com', xboxlive: 'xboxlive.com' }[portal];
    const [, same] = await playsElsewhere(`https://keys.${domain}${KEYS[portal]}`, 'same');
    assert.equal(same.id, own.id);
  });

test('key sets are cached as long as Cache-Control allows, and at most a day', async (t) => {
  api.stayInOneProcess(t);
  const jwk = await issuer.jwk();
  const fetches = async (cacheControl: string, later: number) => {
    api.clock.advance(100_000);
    platforms.on(KEYS.apple, () => ({ json: { keys: [jwk] }, headers: { 'cache-control': cacheControl } }));
    const before = platforms.timesAsked(KEYS.apple);
    for (const pause of [0, later]) {
      api.clock.advance(pause);
      const id_token = await issuer.sign(claimsOf('apple'));
      await key.call(authenticateViaApple, { body: { id_token, terms_agreed: true } });
    }
    return platforms.timesAsked(KEYS.apple) - before;
  };
  assert.equal(await fetches('max-age=900', 899), 1);
  assert.equal(await fetches('max-age=900', 900), 2);
  assert.equal(await fetches('public, max-age=31536000', 86_399), 1);
  assert.equal(await fetches('public, max-age=31536000', 86_400), 2);
  assert.equal(await fetches('no-store', 0), 2);
});

test('a token of a megabyte is not parsed', async () => {
  const id_token = `${'a'.repeat(1_000_000)}.b.c`;
  await key.refused(authenticateViaApple, { body: { id_token } }, 422, 13009);
});

test('a token signs in once, and again only from the same address within a minute', async () => {
  const id_token = await issuer.sign(claimsOf('apple'));
  const body = { id_token, terms_agreed: true };
  await key.refused(authenticateViaApple, { body: { id_token } }, 403, 11074);
  assert.equal((await key.call(authenticateViaApple, { body })).status, 200);
  assert.equal((await key.call(authenticateViaApple, { body })).status, 200, 'an answer may get lost');
  api.clock.advance(61);
  await key.refused(authenticateViaApple, { body }, 401, 11201);
});

test('a portal that the game has not configured gets an error', async () => {
  const bare = api.withKey(await api.aGame());
  const id_token = await issuer.sign(claimsOf('apple'));
  await bare.refused(authenticateViaApple, { body: { id_token } }, 403, 11203);
  await bare.refused(authenticateViaSwitch, { body: { id_token } }, 403, 11040);
  await bare.refused(authenticateViaOpenid, { body: { id_token } }, 403, 11086);
  await bare.refused(authenticateViaEpicgames, { body: { id_token } }, 401, 11032);
  await bare.refused(authenticateViaGoogle, { body: { id_token } }, 401, 11032);
  await bare.refused(authenticateViaPsn, { body: { auth_code: 'x' } }, 401, 11032);
  await bare.refused(authenticateViaXboxLive, { body: { xbox_token: 'x' } }, 401, 11032);
});

test('Google exchanges a code with the game’s secret, and a failure is reported', async () => {
  const id_token = await issuer.sign(claimsOf('google', { email: 'grace@example.org', email_verified: true }));
  platforms.on('/token', ({ form }) =>
    form.get('code') === 'good' &&
    form.get('client_secret') === 'google secret' &&
    form.get('client_id') === 'google-client'
      ? { json: { id_token } }
      : { status: 400, json: { error: 'invalid_grant' } },
  );
  const body = { auth_code: 'good', terms_agreed: true };
  assert.equal((await key.call(authenticateViaGoogle, { body })).status, 200);
  await key.refused(authenticateViaGoogle, { body: { ...body, auth_code: 'bad' } }, 401, 11052);
  platforms.on('/token', () => ({ json: {} }));
  await key.refused(authenticateViaGoogle, { body }, 401, 11057);
  platforms.down('/token');
  await key.refused(authenticateViaGoogle, { body }, 401, 11057);
  await key.refused(authenticateViaGoogle, { body: { terms_agreed: true } }, 422, 13009);
});

test('36: an access token of Epic signs in like its ID token and is verified like it', async () => {
  const claims = claimsOf('epicgames');
  const me = async (body: Record<string, unknown>) => {
    const { access_token } = (await key.call(authenticateViaEpicgames, { body: { ...body, terms_agreed: true } })).body;
    return (await api.withToken(access_token).call(getAuthenticatedUser)).body.id;
  };
  const access_token = await issuer.sign({ ...claims, scope: 'basic_profile', t: 'epic_id' });
  const person = await me({ access_token });
  assert.equal(await me({ access_token }), person, 'shown again while it lives');
  assert.equal(await me({ id_token: await issuer.sign({ ...claims, jti: 'another' }) }), person);
  const refused = async (token: string, status: number, ref: number) => {
    const body = { access_token: token, terms_agreed: true };
    await key.refused(authenticateViaEpicgames, { body }, status, ref);
  };
  await refused(await stranger.sign(claims), 401, 11044);
  await refused(await issuer.sign({ ...claims, aud: 'other-client' }), 401, 11044);
  await refused(await issuer.sign({ ...claims, iss: 'https://example.com' }), 401, 11047);
  await refused(await issuer.sign({ ...claims, exp: api.clock.now() - 61 }), 401, 11046);
  await refused('opaque', 401, 11044);
  const answer = await key.refused(authenticateViaEpicgames, { body: { terms_agreed: true } }, 422, 13009);
  assert.deepEqual(Object.keys(answer.body.error.errors!), ['id_token']);
});

test('client tokens of Epic belong to no user and are refused', async () => {
  const { sub: _, ...nobody } = claimsOf('epicgames');
  const body = { id_token: await issuer.sign(nobody), terms_agreed: true };
  await key.refused(authenticateViaEpicgames, { body }, 401, 11049);
});

test('Xbox: children and users who may not see user-generated content are refused', async () => {
  const person = (more: object) => [{ xid: '77', gtg: 'Kid', agg: 'Adult', prv: '247', ...more }];
  const sent = async (xui: unknown) => CASES.xboxlive.body(await issuer.sign(claimsOf('xboxlive', { xui })));
  await key.refused(authenticateViaXboxLive, { body: await sent(person({ agg: 'Child' })) }, 403, 11030);
  await key.refused(authenticateViaXboxLive, { body: await sent(person({ prv: '188 2470' })) }, 403, 11028);
  await key.refused(authenticateViaXboxLive, { body: await sent([...person({}), ...person({})]) }, 401, 11027);
  const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const xbox_token = await encryptFor(other.publicKey, await issuer.sign(claimsOf('xboxlive')));
  await key.refused(authenticateViaXboxLive, { body: { xbox_token } }, 401, 11027);
});

test('PlayStation: children, restricted users, other environments and used codes are refused', async () => {
  const sent = async (more: JWTPayload) => codeFor(await issuer.sign(claimsOf('psn', more)));
  await key.refused(authenticateViaPsn, { body: await sent({ is_sub_account: true }) }, 403, 11085);
  await key.refused(authenticateViaPsn, { body: await sent({ ugc_restricted: true }) }, 403, 11096);
  await key.refused(authenticateViaPsn, { body: await sent({ env_iss_id: 1 }) }, 401, 11080);
  platforms.on('/2.0/oauth/token', ({ headers }) => ({
    status: headers.authorization === `Basic ${Buffer.from('psn-client:psn secret').toString('base64')}` ? 400 : 500,
    json: { error: 'invalid_grant' },
  }));
  await key.refused(authenticateViaPsn, { body: { auth_code: 'used' } }, 401, 11080);
  platforms.down('/2.0/oauth/token');
  await key.refused(authenticateViaPsn, { body: { auth_code: 'x' } }, 401, 11084);
  await key.refused(authenticateViaPsnSdk, { body: { auth_code: 'x' } }, 401, 11084);
});

test('PlayStation requires consent for each game', async () => {
  const claims = claimsOf('psn');
  const other = await api.aGame();
  await (await api.as(other.owner)).call(editGamePortal, {
    params: { game_id: other.id, portal: 'psn' },
    body: SETTINGS.psn,
  });
  const body = async () => codeFor(await issuer.sign(claims));
  assert.equal((await key.call(authenticateViaPsn, { body: { ...(await body()), terms_agreed: true } })).status, 200);
  assert.equal((await key.call(authenticateViaPsnSdk, { body: await body() })).status, 200);
  await api.withKey(other).refused(authenticateViaPsn, { body: await body() }, 403, 11074);
});

test('studios: keys without an algorithm, invalid subjects and inactive configurations are refused', async () => {
  const { alg: _, ...nameless } = await issuer.jwk();
  const signIn = async (more: JWTPayload = {}) => ({
    body: { id_token: await issuer.sign(claimsOf('sso', more)), terms_agreed: true },
  });
  for (const sub of ['', 0, -1, 1.5, null])
    await key.refused(authenticateViaOpenid, await signIn({ sub } as unknown as JWTPayload), 401, 11094);
  assert.equal((await key.call(authenticateViaOpenid, await signIn({ sub: 77 } as unknown as JWTPayload))).status, 200);
  const { iat: __, ...undated } = claimsOf('sso');
  await key.refused(authenticateViaOpenid, { body: { id_token: await issuer.sign(undated) } }, 401, 11094);
  for (const aud of ['localhost', `https://g-${game.id}.localhost`, `g-${game.id}.localhost`])
    assert.equal((await key.call(authenticateViaOpenid, await signIn({ aud }))).status, 200, aud);
  await key.refused(authenticateViaOpenid, await signIn({ aud: 'g-999.localhost' }), 401, 11091);
  api.clock.advance(100_000);
  platforms.on(KEYS.sso, () => ({ json: { keys: [nameless] } }));
  await key.refused(authenticateViaOpenid, await signIn(), 401, 11089);
  const params = { game_id: game.id, portal: 'sso' };
  await administrator.call(editGamePortal, { params, body: { active: 'false' } });
  await key.refused(authenticateViaOpenid, await signIn(), 403, 11087);
  await administrator.call(editGamePortal, { params, body: { active: 'true' } });
});

for (const alg of ['ES256', 'ES512'])
  test(`studios may sign with ${alg} and map the claims for name and avatar`, async () => {
    const studio = new Issuer('curve', alg);
    const jwk = await studio.jwk();
    platforms.on(KEYS.sso, () => ({ json: { keys: [jwk] } }));
    const params = { game_id: game.id, portal: 'sso' };
    await administrator.call(editGamePortal, { params, body: { display_name_claim: 'nick', avatar_claim: 'face' } });
    const id_token = await studio.sign(claimsOf('sso', { nick: 'Nick', face: 'https://example.com/a.png' }));
    const { body } = await key.call(authenticateViaOpenid, { body: { id_token, terms_agreed: true } });
    const [connection] = (await api.withToken(body.access_token).call(getConnections)).body.data;
    assert.equal(connection?.display_name, 'Nick');
    assert.equal(connection?.avatar_url, 'https://example.com/a.png');
    assert.equal(connection?.game_id, game.id);
    await administrator.call(editGamePortal, { params, body: { display_name_claim: '', avatar_claim: '' } });
  });

test('a studio’s key set address cannot reach the service’s own network', async () => {
  const params = { game_id: game.id, portal: 'sso' };
  const id_token = await issuer.sign(claimsOf('sso'));
  for (const jwks_url of [
    'http://169.254.169.254/latest/meta-data',
    'https://[::1]/keys',
    'https://10.0.0.1/keys',
    'https://0xa.1/keys',
    'https://[::ffff:10.0.0.1]/keys',
    'http://93.184.216.34/keys',
    'https://0.0.0.0/keys',
  ]) {
    await administrator.call(editGamePortal, { params, body: { jwks_url } });
    await key.refused(authenticateViaOpenid, { body: { id_token, terms_agreed: true } }, 401, 11088);
  }
  for (const jwks_url of ['file:///etc/passwd', 'gopher://example.com', 'no address'])
    await administrator.refused(editGamePortal, { params, body: { jwks_url } }, 422, 13009);
  platforms.on('/inside', () => ({ status: 302, headers: { location: 'http://169.254.169.254/' }, json: {} }));
  platforms.on('/large', () => ({ json: `{"keys":[${' '.repeat(300_000)}]}` }));
  for (const [path, ref] of [
    ['/inside', 11088],
    ['/missing', 11088],
    ['/large', 11090],
  ] as const) {
    await administrator.call(editGamePortal, { params, body: { jwks_url: platforms.url + path } });
    await key.refused(authenticateViaOpenid, { body: { id_token, terms_agreed: true } }, 401, ref);
  }
  await administrator.call(editGamePortal, { params, body: SETTINGS.sso });
});

test('a studio’s player can link a PlayStation account while signing in', async () => {
  const { auth_code } = await codeFor(await issuer.sign(claimsOf('psn')));
  const id_token = await issuer.sign(claimsOf('sso'));
  const body = { id_token, psn_token: auth_code, terms_agreed: true };
  const { access_token } = (await key.call(authenticateViaOpenid, { body })).body;
  const { data } = (await api.withToken(access_token).call(getConnections)).body;
  assert.deepEqual(data.map(({ portal }) => portal).sort(), ['psn', 'sso']);
});

test('a studio’s request for an account that buys and sells is stored and need not be repeated', async () => {
  const claims = claimsOf('sso');
  const wishes = async (more: Record<string, string>) => {
    const id_token = await issuer.sign({ ...claims, jti: Math.random().toString() });
    const signedIn = await key.call(authenticateViaOpenid, { body: { id_token, terms_agreed: true, ...more } });
    const { access_token } = signedIn.body as { access_token: string };
    return (await api.withToken(access_token).call(getConnections)).body.data[0]?.monetization_account;
  };
  assert.equal(await wishes({}), false);
  assert.equal(await wishes({ monetization_account: 'false' }), false);
  assert.equal(await wishes({ monetization_account: 'true' }), true);
  assert.equal(await wishes({}), true);
  const body = { id_token: await issuer.sign(claims), monetization_account: 'perhaps' };
  const { error } = (await key.refused(authenticateViaOpenid, { body }, 422, 13009)).body;
  assert.deepEqual(Object.keys(error.errors ?? {}), ['monetization_account']);
});
