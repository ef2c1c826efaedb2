import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { beforeEach, test } from 'node:test';
import { SignJWT } from 'jose';
import { START, startApi } from '../../../test/api.ts';
import { aPack, aSellingGame } from '../../../test/money.ts';
import { Issuer } from '../../../test/platforms.ts';
import { type AppleChain, appleChain } from '../../../test/stores/apple-chain.ts';
import { startStoreServer } from '../../../test/stores/server.ts';
import { appleStandIn, BUNDLE, BUYER, googleStandIn, SKU, type StandIn } from '../../../test/stores/stand-ins.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { StoreRefusal } from './adapter.ts';
import { APPLE_ROOT_CA_G3 } from './apple-root.ts';
import { APPLE_TRUST, verifyAppleSignature } from './apple-signatures.ts';
import {
  forgetNotifications,
  handleNotification,
  readAppleNotification,
  readGoogleNotification,
  type StoreNotification,
} from './notifications.ts';
import { putStoreSettings, storeSettingsFor } from './settings.ts';
import { syncPurchases } from './syncing.ts';

const server = await startStoreServer();
const apple = await appleStandIn(server);
const google = googleStandIn(server);
const keys = new Issuer('push key');
server.on('keys', 'GET', /^\/oauth2\/v3\/certs$/, async () => ({ json: { keys: [await keys.jwk()] } }));
const api = await startApi({ settings: { ...server.settings, MODSTEAD_JOBS: 'off' } });
const app = api.app();
const game = await aSellingGame(api);
const pack = await aPack(api, game);
const otherGame = await api.aGame();
for (const { portal, settings } of [apple, google])
  await app.db.write((transaction) => putStoreSettings(app, transaction, game.id, portal, settings));

let reversed: number[] = [];
beforeEach(() => {
  reversed = [];
});
const handle = (notification: StoreNotification) =>
  handleNotification(app, notification, async (_app, _transaction, { user_id }) => {
    reversed.push(user_id);
  });

/** A new purchase that a new user has synced. */
async function aPurchase(standIn: StandIn): Promise<{ user: number; reference: string }> {
  standIn.buy();
  const user = await api.aUser();
  const settings = await storeSettingsFor(app, game.id, standIn.portal);
  const asking = { app, gameId: game.id, settings: settings!, skus: [SKU] };
  const packs = new Map([[SKU, pack]]);
  const selling = { asking, portal: standIn.portal, adapter: standIn.adapter, packs, credit: async () => 1 };
  const synced = await syncPurchases(selling, user.id, await standIn.proof(), BUYER);
  const { reference } = synced.find(({ state }) => state === 'fulfilled')!;
  return { user: user.id, reference };
}

const refused = (work: Promise<unknown>, ref: number, about: string) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.ref, ref, about);
    return true;
  });

test('the pinned root is Apple’s', () => {
  const root = new X509Certificate(APPLE_ROOT_CA_G3);
  const published = '63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179';
  assert.equal(root.fingerprint256.replaceAll(':', ''), published);
  assert.ok(root.verify(root.publicKey));
});

test('Apple: a signature counts only with a chain that leads to the root and has Apple’s marks', async () => {
  const trust = { root: apple.chain.root };
  const jws = await apple.chain.sign({ bundleId: BUNDLE });
  assert.deepEqual(await verifyAppleSignature(trust, jws, START), { bundleId: BUNDLE });
  const stranger = await appleChain({ now: START });
  const sign = (chain: AppleChain, header = {}) => chain.sign({ bundleId: BUNDLE }, header);
  const [leaf, issuer, root] = apple.chain.x5c as [string, string, string];
  const [head, , signature] = jws.split('.');
  const changed = Buffer.from(JSON.stringify({ bundleId: 'other' })).toString('base64url');
  const forgeries: Record<string, string> = {
    'another root': await sign(stranger),
    'the chain of Apple, another key': await sign(stranger, { x5c: apple.chain.x5c }),
    'another root at the end of the chain': await sign(apple.chain, { x5c: [leaf, issuer, stranger.x5c[2]] }),
    'another authority': await sign(stranger, { x5c: [stranger.x5c[0], issuer, root] }),
    'no chain': await sign(apple.chain, { x5c: undefined }),
    'a short chain': await sign(apple.chain, { x5c: [leaf, issuer] }),
    'the authority as signer': await sign(apple.chain, { x5c: [issuer, root, root] }),
    'not certificates': await sign(apple.chain, { x5c: ['AAAA', issuer, root] }),
    'changed content': `${head}.${changed}.${signature}`,
    'no signature': `${head}.${changed}.`,
    'another algorithm': await new SignJWT({ bundleId: BUNDLE })
      .setProtectedHeader({ alg: 'HS256', x5c: [...apple.chain.x5c] })
      .sign(Buffer.from(leaf)),
    'no token': 'nothing',
    empty: '',
  };
  for (const [about, forged] of Object.entries(forgeries))
    await assert.rejects(verifyAppleSignature(trust, forged, START), StoreRefusal, about);
  for (const without of ['signer', 'issuer'] as const) {
    const chain = await appleChain({ now: START, without });
    await assert.rejects(verifyAppleSignature({ root: chain.root }, await sign(chain), START), StoreRefusal, without);
  }
  const expired = await appleChain({ now: START, expired: true });
  await assert.rejects(verifyAppleSignature({ root: expired.root }, await sign(expired), START), StoreRefusal);
  await assert.rejects(verifyAppleSignature(APPLE_TRUST, jws, START), StoreRefusal, 'the real root');
});

const transactionOf = (reference: string, more = {}) =>
  apple.chain.sign({
    transactionId: reference.split('/')[1],
    bundleId: BUNDLE,
    productId: SKU,
    type: 'Consumable',
    environment: 'Production',
    ...more,
  });

async function appleNotification(reference: string, more: Record<string, unknown> = {}, transaction = {}) {
  return apple.chain.sign({
    notificationType: 'REFUND',
    notificationUUID: app.random.uuid(),
    version: '2.0',
    signedDate: app.clock.now() * 1_000,
    data: {
      bundleId: BUNDLE,
      environment: 'Production',
      signedTransactionInfo: await transactionOf(reference, transaction),
    },
    ...more,
  });
}

const readApple = (payload: string) => readAppleNotification(app, payload, { root: apple.chain.root });

test('Apple: a refund takes the purchase back once, however often it is announced', async () => {
  const { user, reference } = await aPurchase(apple);
  const payload = await appleNotification(reference);
  assert.equal(await handle(await readApple(payload)), true);
  assert.equal(await handle(await readApple(payload)), false, 'the same notification again');
  assert.equal(await handle(await readApple(await appleNotification(reference))), false, 'another notification');
  assert.deepEqual(reversed, [user]);
});

test('Apple: other notifications take nothing back', async () => {
  const { reference } = await aPurchase(apple);
  for (const notificationType of ['TEST', 'ONE_TIME_CHARGE', 'CONSUMPTION_REQUEST', 'REFUND_DECLINED'])
    assert.equal(await handle(await readApple(await appleNotification(reference, { notificationType }))), false);
  assert.deepEqual(reversed, []);
});

test('Apple: a notification from another signer, for another app, or too old is refused', async () => {
  const { reference } = await aPurchase(apple);
  const payload = await appleNotification(reference);
  await refused(readAppleNotification(app, payload), 17046, 'not of the real App Store');
  await refused(readApple('nothing'), 17046, 'no signature');
  const stranger = { data: { bundleId: 'com.example.other' } };
  await refused(readApple(await appleNotification(reference, stranger)), 17048, 'another app');
  const old = { signedDate: (app.clock.now() - 8 * 86_400) * 1_000 };
  await refused(readApple(await appleNotification(reference, old)), 17048, 'a replay');
  const sandbox = await appleNotification(reference, {}, { environment: 'Sandbox' });
  await refused(readApple(sandbox), 17048, 'a transaction of the sandbox');
});

const AUDIENCE = 'https://mods.example.com/v1/notifications/google';

const pushToken = async (claims = {}, issuer = keys) =>
  `Bearer ${await issuer.sign({
    iss: 'https://accounts.google.com',
    aud: AUDIENCE,
    email: 'push@games.example',
    email_verified: true,
    sub: '1',
    iat: app.clock.now(),
    exp: app.clock.now() + 3_600,
    ...claims,
  })}`;

let messages = 0;
function voided(reference: string, more = {}) {
  messages += 1;
  const [packageName, purchaseToken] = reference.split('/');
  const voidedPurchaseNotification = { purchaseToken, orderId: 'GPA.1', productType: 2, refundType: 1 };
  const content = { version: '1.0', packageName, voidedPurchaseNotification, ...more };
  const data = Buffer.from(JSON.stringify(content)).toString('base64');
  return { message: { data, messageId: String(messages) }, subscription: 'projects/p/subscriptions/s' };
}

test('Google: a voided purchase is taken back once, however often Pub/Sub delivers it', async () => {
  const { user, reference } = await aPurchase(google);
  const message = voided(reference);
  assert.equal(await handle(await readGoogleNotification(app, await pushToken(), message)), true);
  assert.equal(await handle(await readGoogleNotification(app, await pushToken(), message)), false);
  assert.equal(await handle(await readGoogleNotification(app, await pushToken(), voided(reference))), false);
  assert.deepEqual(reversed, [user]);
});

test('Google: other notifications take nothing back', async () => {
  const { reference } = await aPurchase(google);
  const others = [
    { voidedPurchaseNotification: undefined, testNotification: { version: '1.0' } },
    { voidedPurchaseNotification: undefined, oneTimeProductNotification: { notificationType: 1, purchaseToken: 'a' } },
    { voidedPurchaseNotification: { purchaseToken: reference.split('/')[1], productType: 1 } },
  ];
  for (const more of others)
    assert.equal(await handle(await readGoogleNotification(app, await pushToken(), voided(reference, more))), false);
  assert.deepEqual(reversed, []);
});

test('Google: a push without the token of the game’s subscription is refused', async () => {
  const { reference } = await aPurchase(google);
  const read = async (authorization: string, body: Record<string, unknown> = voided(reference)) =>
    readGoogleNotification(app, authorization, body);
  await refused(read(''), 17040, 'no token');
  await refused(read('Bearer abc'), 17040, 'no JWT');
  await refused(read(await pushToken(), { message: { data: 'e30', messageId: '1' } }), 17048, 'no package');
  await refused(read(await pushToken(), { message: { data: '!' } }), 17040, 'no JSON');
  await refused(read(await pushToken({}, new Issuer('push key'))), 17046, 'another key');
  await refused(read(await pushToken({ aud: 'https://other.example' })), 17048, 'another audience');
  await refused(read(await pushToken({ iss: 'https://evil.example' })), 17048, 'another issuer');
  await refused(read(await pushToken({ email: 'evil@games.example' })), 17048, 'another account');
  await refused(read(await pushToken({ email_verified: false })), 17048, 'an unconfirmed account');
  await refused(read(await pushToken({ exp: app.clock.now() - 120 })), 17048, 'an expired token');
  await refused(read(await pushToken(), voided('com.example.unknown/token')), 17048, 'another package');
});

test('a game that names the app of another one cannot take its purchases back', async () => {
  const { reference } = await aPurchase(google);
  const settings = { ...google.settings, push_email: 'evil@games.example' };
  await app.db.write((transaction) => putStoreSettings(app, transaction, otherGame.id, 'google', settings));
  const token = await pushToken({ email: 'evil@games.example' });
  const notification = await readGoogleNotification(app, token, voided(reference));
  assert.deepEqual(notification.gameIds, [otherGame.id]);
  assert.equal(await handle(notification), false);
  assert.deepEqual(reversed, []);
});

test('handled notifications are forgotten after a store has given up repeating them', async () => {
  const count = async () => (await app.db.query.selectFrom('store_notifications').select('message').execute()).length;
  assert.ok((await count()) > 0);
  await forgetNotifications(app);
  assert.ok((await count()) > 0);
  api.clock.advance(41 * 86_400);
  await forgetNotifications(app);
  assert.equal(await count(), 0);
});
