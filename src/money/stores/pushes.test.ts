import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallInput, startApi } from '../../../test/api.ts';
import { aSellingGame } from '../../../test/money.ts';
import { Issuer } from '../../../test/platforms.ts';
import { startStoreServer } from '../../../test/stores/server.ts';
import { googleStandIn } from '../../../test/stores/stand-ins.ts';
import { editGameStore, notifyGoogle } from './operations.ts';

const server = await startStoreServer();
const google = googleStandIn(server);
const keys = new Issuer('push key');
server.on('keys', 'GET', /^\/oauth2\/v3\/certs$/, async () => ({ json: { keys: [await keys.jwk()] } }));
const api = await startApi({ settings: { ...server.settings, MODSTEAD_JOBS: 'off' } });
const game = await aSellingGame(api);
const configured = await game.studio.call(editGameStore, {
  params: { game_id: game.id, portal: 'google' },
  body: google.settings,
});
assert.equal(configured.status, 200, configured.text);

const PACKAGE = 'com.example.game';
const tokenFor = (claims: Record<string, unknown> = {}) =>
  keys.sign({
    iss: 'https://accounts.google.com',
    aud: 'https://mods.example.com/v1/notifications/google',
    email: 'push@games.example',
    email_verified: true,
    sub: '1',
    iat: api.clock.now(),
    exp: api.clock.now() + 3_600,
    ...claims,
  });

function push(token: string): CallInput {
  const content = { version: '1.0', packageName: PACKAGE, testNotification: { version: '1.0' } };
  const data = Buffer.from(JSON.stringify(content)).toString('base64');
  return {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    raw: Buffer.from(JSON.stringify({ message: { data, messageId: '1' } })),
  };
}

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

test('a push of Google says why it was refused, and is taken once its token is right', async () => {
  const nobody = api.nobody();
  server.fail('keys', 'busy');
  await nobody.refused(notifyGoogle, push(await tokenFor()), 500, 17_049);
  await nobody.refused(notifyGoogle, push('e30.a.b.c.d'), 401, 17_044);
  const [, claims] = (await tokenFor()).split('.');
  await nobody.refused(notifyGoogle, push(`${part({ alg: 'none', typ: 'JWT' })}.${claims}.AAAA`), 401, 17_047);
  await nobody.refused(notifyGoogle, push(await tokenFor({ aud: 'https://other.example' })), 401, 17_048);
  assert.equal((await nobody.call(notifyGoogle, push(await tokenFor()))).status, 204);
});
