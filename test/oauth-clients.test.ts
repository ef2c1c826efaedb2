// Runs on one database: the libraries talk to the API alone, and src/signin/oauth tests the grants on both.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { startApi } from './api.ts';
import { aClient, Browser, REDIRECT } from './browser.ts';

// OAuth libraries that were not written for this service, over HTTPS with a trusted local certificate.

const port = await freePort();
const api = await startApi({ settings: { MODSTEAD_PORT: String(port), MODSTEAD_PUBLIC_PORT: String(port) } });
setDefaultCACertificates([readFileSync(api.service.certificateFile!, 'utf8')]);
const SITE = `https://localhost:${port}`;
const registered = await aClient(api, { requiresPkce: true });
const credentials = { id: String(registered.client_id), secret: registered.client_secret };
/** The parameter that part 1 of the specification requires beyond RFC 6749. */
const GRANT = { grant_type: 'authorization_code' };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}

/** Signs in and allows the client in a browser, and returns the redirect URL. */
async function allowed(address: URL, email: string): Promise<URL> {
  assert.equal(address.origin, SITE);
  const browser = new Browser(api);
  const consent = await browser.signIn(`${address.pathname}${address.search}`, email);
  const answer = await browser.submit(consent, { decision: 'allow' });
  return new URL(answer.headers.location!);
}

async function whoIs(token: string): Promise<number> {
  const answer = await fetch(`${SITE}/v1/me`, { headers: { authorization: `Bearer ${token}` } });
  return answer.status;
}

test('openid-client discovers the endpoints, and completes all grants and the revocation', async () => {
  const config = await openid.discovery(new URL(SITE), credentials.id, credentials.secret, undefined, {
    algorithm: 'oauth2',
  });
  const verifier = openid.randomPKCECodeVerifier();
  const state = openid.randomState();
  const address = openid.buildAuthorizationUrl(config, {
    ...GRANT,
    redirect_uri: REDIRECT,
    scope: 'read write',
    state,
    code_challenge: await openid.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  });
  const back = await allowed(address, 'openid-client@example.org');
  const tokens = await openid.authorizationCodeGrant(config, back, {
    pkceCodeVerifier: verifier,
    expectedState: state,
  });
  assert.deepEqual([tokens.expires_in, await whoIs(tokens.access_token)], [2_592_000, 200]);
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!, { redirect_uri: REDIRECT });
  assert.equal(await whoIs(renewed.access_token), 200);
  const service = await openid.clientCredentialsGrant(config, { scope: 'read,monetization' });
  assert.equal(service['scopes'], 'read,monetization');
  await openid.tokenRevocation(config, renewed.refresh_token!);
  assert.equal(await whoIs(renewed.access_token), 401);
  await assert.rejects(
    openid.refreshTokenGrant(config, renewed.refresh_token!, { redirect_uri: REDIRECT }),
    (error) => error instanceof openid.ResponseBodyError && error.error === 'invalid_grant',
  );
});

test('oauth4webapi, which validates each step strictly, completes all grants and the revocation', async () => {
  const issuer = new URL(SITE);
  const server = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { algorithm: 'oauth2' }),
  );
  const client: oauth.Client = { client_id: credentials.id };
  const secret = oauth.ClientSecretBasic(credentials.secret);
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const address = new URL(server.authorization_endpoint!);
  address.search = new URLSearchParams({
    ...GRANT,
    client_id: credentials.id,
    response_type: 'code',
    redirect_uri: REDIRECT,
    scope: 'read',
    state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  }).toString();
  const back = oauth.validateAuthResponse(server, client, await allowed(address, 'oauth4webapi@example.org'), state);
  const tokens = await oauth.processAuthorizationCodeResponse(
    server,
    client,
    await oauth.authorizationCodeGrantRequest(server, client, secret, back, REDIRECT, verifier),
  );
  assert.equal(await whoIs(tokens.access_token), 200);
  const renewed = await oauth.processRefreshTokenResponse(
    server,
    client,
    await oauth.refreshTokenGrantRequest(server, client, secret, tokens.refresh_token!, {
      additionalParameters: { redirect_uri: REDIRECT },
    }),
  );
  assert.equal(await whoIs(renewed.access_token), 200);
  const service = await oauth.processClientCredentialsResponse(
    server,
    client,
    await oauth.clientCredentialsGrantRequest(server, client, secret, { scope: 'write' }),
  );
  assert.equal(service.token_type, 'bearer');
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, client, secret, renewed.refresh_token!));
  assert.equal(await whoIs(renewed.access_token), 401);
});

interface SimpleToken {
  readonly token: { readonly access_token: string; readonly refresh_token: string; readonly scopes?: string };
  refresh(params: object): Promise<SimpleToken>;
  revokeAll(): Promise<void>;
}
interface SimpleGrant {
  authorizeURL(params: object): string;
  getToken(params: object): Promise<SimpleToken>;
}
type SimpleGrantClass = new (config: object) => SimpleGrant;

test('simple-oauth2, with its secret in the header and in the body, completes all grants', async () => {
  const simple: { AuthorizationCode: SimpleGrantClass; ClientCredentials: SimpleGrantClass } = createRequire(
    import.meta.url,
  )('simple-oauth2');
  const plain = await aClient(api);
  for (const authorizationMethod of ['header', 'body']) {
    const config = {
      client: { id: String(plain.client_id), secret: plain.client_secret },
      auth: { tokenHost: SITE, tokenPath: '/v1/oauth/token', revokePath: '/v1/oauth/revoke' },
      options: { authorizationMethod },
    };
    const code = new simple.AuthorizationCode(config);
    const address = code.authorizeURL({ ...GRANT, redirect_uri: REDIRECT, scope: ['read', 'write'], state: 'x' });
    const back = await allowed(new URL(address), `simple-${authorizationMethod}@example.org`);
    const token = await code.getToken({ code: back.searchParams.get('code'), redirect_uri: REDIRECT });
    assert.equal(await whoIs(token.token.access_token), 200);
    const renewed = await token.refresh({ redirect_uri: REDIRECT });
    assert.equal(await whoIs(renewed.token.access_token), 200);
    await renewed.revokeAll();
    assert.equal(await whoIs(renewed.token.access_token), 401);
    const service = await new simple.ClientCredentials(config).getToken({ scope: 'read,update' });
    assert.equal(service.token.scopes, 'read,update');
  }
});

// Recorded requests of libraries in other languages, for a client registered as standard. They omit what the
// specification adds to RFC 6749.

interface Recorded {
  readonly library: string;
  /** The query parameters of its authorization URL, in order. */
  readonly authorize: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly exchange: readonly string[];
  readonly refresh: readonly string[];
  /** Requests with `client_id` have the secret in the body, the others in the header. */
  readonly service: string;
}

const FORM = 'application/x-www-form-urlencoded';
const PYTHON = {
  'user-agent': 'python-requests/2.34.2',
  'accept-encoding': 'gzip, deflate',
  accept: 'application/json',
};

const recorded: readonly Recorded[] = [
  {
    library: 'Authlib 1.9.5, client_secret_basic',
    authorize: [
      'response_type',
      'client_id',
      'redirect_uri',
      'scope',
      'state',
      'code_challenge',
      'code_challenge_method',
    ],
    headers: { ...PYTHON, 'content-type': `${FORM};charset=UTF-8` },
    exchange: ['grant_type', 'redirect_uri', 'code_verifier', 'code'],
    refresh: ['grant_type', 'refresh_token', 'scope'],
    service: 'grant_type=client_credentials&scope=read+monetization',
  },
  {
    library: 'Authlib 1.9.5, client_secret_post',
    authorize: ['response_type', 'client_id', 'redirect_uri', 'scope', 'state'],
    headers: { ...PYTHON, 'content-type': `${FORM};charset=UTF-8` },
    exchange: ['grant_type', 'redirect_uri', 'code', 'client_id', 'client_secret'],
    refresh: ['grant_type', 'refresh_token', 'scope', 'client_id', 'client_secret'],
    service: 'grant_type=client_credentials&scope=read+monetization',
  },
  {
    library: 'requests-oauthlib 2.0.0',
    authorize: [
      'response_type',
      'client_id',
      'redirect_uri',
      'scope',
      'state',
      'code_challenge',
      'code_challenge_method',
    ],
    headers: { ...PYTHON, 'content-type': FORM },
    exchange: ['grant_type', 'code_verifier', 'code', 'redirect_uri'],
    refresh: ['grant_type', 'client_id', 'client_secret', 'scope', 'refresh_token'],
    service: 'grant_type=client_credentials&scope=read+monetization',
  },
  {
    library: 'golang.org/x/oauth2 0.37.0, AuthStyleInHeader',
    authorize: [
      'access_type',
      'client_id',
      'code_challenge',
      'code_challenge_method',
      'redirect_uri',
      'response_type',
      'scope',
      'state',
    ],
    headers: { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip', 'content-type': FORM },
    exchange: ['code', 'code_verifier', 'grant_type', 'redirect_uri'],
    refresh: ['grant_type', 'refresh_token'],
    service: 'grant_type=client_credentials&scope=read+monetization',
  },
  {
    library: 'golang.org/x/oauth2 0.37.0, AuthStyleInParams',
    authorize: ['access_type', 'client_id', 'redirect_uri', 'response_type', 'scope', 'state'],
    headers: { 'user-agent': 'Go-http-client/1.1', 'accept-encoding': 'gzip', 'content-type': FORM },
    exchange: ['client_id', 'client_secret', 'code', 'grant_type', 'redirect_uri'],
    refresh: ['client_id', 'client_secret', 'grant_type', 'refresh_token'],
    service: 'client_id=ID&client_secret=SECRET&grant_type=client_credentials&scope=read+monetization',
  },
];

const VERIFIER = 'Kaaaq9CBJGUlDto45yXaF66zmeecngbCNDBsO3X9eB9';
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');

for (const [index, { library, authorize, headers, exchange, refresh, service }] of recorded.entries())
  test(`the requests of ${library} complete the flow for a standard client, and only for one`, async () => {
    const client = await aClient(api, { standard: true });
    const plain = await aClient(api);
    const values = (by: typeof client): Record<string, string> => ({
      access_type: 'offline',
      response_type: 'code',
      client_id: String(by.client_id),
      client_secret: by.client_secret,
      redirect_uri: REDIRECT,
      scope: 'read write',
      state: 'a-state',
      code_challenge: CHALLENGE,
      code_challenge_method: 'S256',
      code_verifier: VERIFIER,
    });
    const form = (names: readonly string[], more: Record<string, string> = {}, by = client) =>
      new URLSearchParams(names.map((name) => [name, { ...values(by), ...more }[name]!])).toString();
    const send = (body: string, by = client, path = '/v1/oauth/token') => {
      const basic = Buffer.from(`${by.client_id}:${by.client_secret}`).toString('base64');
      const credentials: Record<string, string> = /\bclient_secret=/.test(body)
        ? {}
        : { authorization: `Basic ${basic}` };
      return api.request('POST', path, { headers: { ...headers, ...credentials }, body });
    };
    const back = await allowed(new URL(`${SITE}/oauth/authorize?${form(authorize)}`), `recorded-${index}@example.org`);
    assert.equal(back.searchParams.get('state'), 'a-state');
    const code = back.searchParams.get('code')!;
    const first = await send(form(exchange, { grant_type: 'authorization_code', code }));
    assert.equal(first.status, 200, first.text);
    const { refresh_token } = first.body as { refresh_token: string };
    const second = await send(form(refresh, { grant_type: 'refresh_token', refresh_token }));
    assert.equal(second.status, 200, second.text);
    const renewed = second.body as { access_token: string; refresh_token: string };
    assert.equal(await whoIs(renewed.access_token), 200);
    const asked = service.replace('ID', String(client.client_id)).replace('SECRET', client.client_secret);
    assert.equal(((await send(asked)).body as { scopes: string }).scopes, 'read,monetization');
    const revocation = `token=${renewed.refresh_token}&token_type_hint=refresh_token`;
    assert.equal((await send(revocation, client, '/v1/oauth/revoke')).status, 200);
    assert.equal(await whoIs(renewed.access_token), 401);
    const refused = await api.request('GET', `/oauth/authorize?${form(authorize, {}, plain)}`);
    assert.equal(new URL(refused.headers.location!).searchParams.get('error'), 'invalid_request');
    const unnamed = await send(form(refresh, { grant_type: 'refresh_token', refresh_token: 'x' }, plain), plain);
    assert.deepEqual([unnamed.status, (unnamed.body as { error: string }).error], [400, 'invalid_request']);
  });
