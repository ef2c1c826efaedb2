import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, createServer } from 'node:net';
import { test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { startApi } from './api.ts';
import { aClient, Browser, REDIRECT } from './browser.ts';

// Libraries that know nothing of this service, over HTTPS, each with the certificate as a user would trust it.

const port = await freePort();
const api = await startApi({ settings: { MODSTEAD_PORT: String(port), MODSTEAD_PUBLIC_PORT: String(port) } });
setDefaultCACertificates([readFileSync(api.service.certificateFile!, 'utf8')]);
const SITE = `https://localhost:${port}`;
const registered = await aClient(api, { requiresPkce: true });
const credentials = { id: String(registered.client_id), secret: registered.client_secret };
/** What part 1 of the specification asks for beyond RFC 6749. */
const GRANT = { grant_type: 'authorization_code' };

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port: free } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return free;
}

/** The person in front of the browser: signs in, allows, and ends up at the client's address. */
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

test('openid-client finds everything, and completes all grants and the revocation', async () => {
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

test('oauth4webapi, which checks each step by the letter, completes all grants and the revocation', async () => {
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
