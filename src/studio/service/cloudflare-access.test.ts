// Runs on one database: the header is checked before a request reaches it.
import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { assertRefused, startApi } from '../../../test/api.ts';
import { Issuer, startPlatforms } from '../../../test/platforms.ts';
import { aDevice } from '../../../test/sockets.ts';
import { readSettings, SettingError } from '../../platform/config/settings.ts';

const cloudflare = await startPlatforms();
const AUDIENCE = '32eafc7626e737';
const CERTS = '/cdn-cgi/access/certs';
const settings = {
  MODSTEAD_CLOUDFLARE_ACCESS: `${cloudflare.url}?aud=${AUDIENCE}`,
  MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32',
};
const api = await startApi({ settings });
const issuer = new Issuer();

beforeEach(async () => {
  api.clock.advance(100_000);
  const keys = [await issuer.jwk()];
  cloudflare.on(CERTS, () => ({ json: { keys } }));
});

const assertion = (claims: object = {}, by = issuer) => {
  const now = api.clock.now();
  return by.sign({ iss: cloudflare.url, aud: AUDIENCE, sub: 'ada', iat: now, nbf: now, exp: now + 60, ...claims });
};
const ping = async (token?: string, path = '/v1/ping') =>
  api.request('GET', path, token === undefined ? {} : { headers: { 'Cf-Access-Jwt-Assertion': token } });

test('behind Cloudflare Access a request with a valid assertion is answered', async () => {
  assert.equal((await ping(await assertion())).status, 200);
  assert.equal((await ping(await assertion({ aud: [AUDIENCE, 'another'] }))).status, 200);
  assert.equal((await ping(await assertion(), '/sign-in')).status, 200);
});

test('11070: a request without an assertion, or with a forged one or one for another audience, is refused', async () => {
  assertRefused(await ping(), 401, 11070);
  assertRefused(await ping('no token'), 401, 11070);
  assertRefused(await ping(await assertion({}, new Issuer())), 401, 11070);
  assertRefused(await ping(await assertion({ aud: 'another' })), 401, 11070);
  assertRefused(await ping(await assertion({ iss: 'https://evil.cloudflareaccess.com' })), 401, 11070);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  assertRefused(await ping(`${part({ alg: 'none' })}.${part({ iss: cloudflare.url, aud: AUDIENCE })}.`), 401, 11070);
  for (const path of ['/sign-in', '/legal/terms', '/v1/openapi.json', '/files/placeholder/icon/original.png'])
    assertRefused(await ping(undefined, path), 401, 11070);
});

test('11071: requests are refused while Cloudflare’s keys are unavailable', async () => {
  cloudflare.down(CERTS);
  assertRefused(await ping(await assertion()), 401, 11071);
  cloudflare.on(CERTS, () => ({ status: 500, json: {} }));
  assertRefused(await ping(await assertion()), 401, 11071);
});

test('11072 and 11073: assertions from the future and expired ones have different errors', async () => {
  const now = api.clock.now();
  assertRefused(await ping(await assertion({ nbf: now + 61 })), 401, 11072);
  assertRefused(await ping(await assertion({ exp: now - 61 })), 401, 11073);
});

test('a cached response is not sent to a client without an assertion', async () => {
  const game = await api.aGame();
  const path = `/v1/games/${game.id}?api_key=${game.api_key}`;
  const token = await assertion();
  for (let i = 0; i < 3; i += 1) assert.equal((await ping(token, path)).status, 200);
  assertRefused(await ping(undefined, path), 401, 11070);
  api.clock.advance(200);
  assertRefused(await ping(token, path), 401, 11073);
});

test('sockets require an assertion, and health checks do not', async () => {
  await assert.rejects(aDevice(api.service, { host: 'g-1.ws.localhost' }), /401/);
  for (const path of ['/healthz', '/readyz']) assert.equal((await ping(undefined, path)).status, 200);
});

test('a setting without a team or an application prevents the start', () => {
  for (const wrong of ['team.cloudflareaccess.com', 'https://team.cloudflareaccess.com', 'https://x/y?aud=1'])
    assert.throws(() => readSettings({ MODSTEAD_CLOUDFLARE_ACCESS: wrong }), SettingError);
});
