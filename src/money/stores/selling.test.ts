import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aPack, aPaidMod, aSellingGame, type SellingGame, walletOf } from '../../../test/money.ts';
import { Issuer } from '../../../test/platforms.ts';
import { startStoreServer } from '../../../test/stores/server.ts';
import {
  BUYER,
  googleStandIn,
  playstationStandIn,
  SKU,
  type StandIn,
  steamStandIn,
  xboxStandIn,
} from '../../../test/stores/stand-ins.ts';
import { composeWorker } from '../../composition/compose.ts';
import { closeOwnAccount, deleteOwnAccount, mergeOwnAccount } from '../../signin/accounts/operations.ts';
import { post, tokenAccount } from '../ledger/ledger.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { editGameTokenPack } from '../packs/operations.ts';
import { purchase } from '../purchases/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import {
  addSimulatedPurchase,
  deleteGameStore,
  editGameStore,
  getGameStores,
  getUserEntitlements,
  notifyApple,
  notifyGoogle,
  syncGoogle,
  syncMeta,
  syncPs,
  syncPsn,
  syncSteam,
  syncXboxlive,
} from './operations.ts';

const server = await startStoreServer({ secure: false });
const keys = new Issuer('push key');
server.on('keys', 'GET', /^\/oauth2\/v3\/certs$/, async () => ({ json: { keys: [await keys.jwk()] } }));
const [steam, xbox, psn, google] = [
  steamStandIn(server),
  xboxStandIn(server),
  playstationStandIn(server),
  googleStandIn(server),
] as const;
const standIns: readonly StandIn[] = [steam, xbox, psn, google];
const api = await startApi({ settings: { ...server.settings, MODSTEAD_JOBS: 'off' } });
const app = api.app();
const worker = composeWorker(app);
const game = await aSellingGame(api);
const pack = await aPack(api, game, { tokens: 100, skus: standIns.map(({ portal }) => `${portal}=${SKU}`) });
for (const { portal, settings } of standIns)
  await game.studio.call(editGameStore, { params: { game_id: game.id, portal }, body: { ...settings } });

const ATTEMPT = 121;
const DAY = 86_400;

beforeEach(async () => {
  server.forgetFaults();
  for (const standIn of standIns) standIn.clear();
  // The stand-ins have one buyer, whom each test links to its own user.
  await app.db.write(({ query }) => query.deleteFrom('portal_accounts').execute());
});

async function aBuyer(...portals: readonly string[]) {
  const player = await api.aUser();
  const shown = { display_name: 'Buyer', avatar: '', date_added: 0, date_used: 0 };
  await app.db.write(async ({ query }) => {
    for (const portal of portals)
      await query
        .insertInto('portal_accounts')
        .values({ user_id: player.id, portal, portal_id: BUYER, game_id: 0, ...shown })
        .execute();
  });
  return { player, buyer: await api.as(player) };
}

const here = { game_id: game.id };
const statesOf = async (answer: Promise<{ body: { data: { transaction_state: number }[] } }>) =>
  (await answer).body.data.map((each) => each.transaction_state);
const balanceOf = async (buyer: Client, of: SellingGame = game) => (await walletOf(buyer, of)).balance;
const receipt = async () => ({ ...here, receipt: (await google.proof()).receipt! });

async function agree() {
  assert.deepEqual((await verifyLedger(app)).problems, []);
}

test('what a player has bought on Steam becomes tokens once, however often the game syncs', async () => {
  const { buyer } = await aBuyer('steam');
  steam.buy(2);
  const first = (await buyer.call(syncSteam, { body: here })).body;
  assert.deepEqual(first.wallet, { balance: 200 });
  assert.match(first.data[0]!.transaction_id, /^\d+$/);
  assert.deepEqual(first.data, [
    {
      transaction_id: first.data[0]!.transaction_id,
      transaction_state: 2,
      sku_id: SKU,
      entitlement_consumed: true,
      entitlement_type: 0,
      details: { tokens_allocated: 200 },
    },
  ]);
  assert.deepEqual((await buyer.call(syncSteam, { body: here })).body, {
    ...first,
    data: [],
    result_count: 0,
    result_limit: 0,
    result_total: 0,
  });
  assert.equal(await balanceOf(buyer), 200);
  await agree();
});

test('the game is that of the host name or of the token, where the body names none', async () => {
  const { player, buyer } = await aBuyer('steam');
  await buyer.refused(syncSteam, { body: {} }, 422, 13_009);
  const inGame = await api.as(player, { gameId: game.id });
  assert.deepEqual((await inGame.call(syncSteam)).body.data, []);
  const other = await api.aGame();
  await inGame.refused(syncSteam, { body: { game_id: other.id } }, 403, 11_104);
});

test('a game, a store and an account that are not ready are told apart', async () => {
  const { buyer } = await aBuyer('steam');
  await buyer.refused(syncMeta, { body: here }, 403, 900_054);
  const simulated = { params: { ...here, portal: 'oculus' }, body: { sku: SKU } };
  await buyer.refused(addSimulatedPurchase, simulated, 403, 900_054);
  await buyer.refused(syncXboxlive, { body: { ...here, xbox_token: 'XBL3.0 x=1;a.b' } }, 400, 11_069);
  const closed = await api.aGame();
  await buyer.refused(syncSteam, { body: { game_id: closed.id } }, 403, 900_013);
  await buyer.refused(syncSteam, { body: { game_id: 999_999 } }, 404, 14_001);
  server.fail('list', 'busy');
  await buyer.refused(syncSteam, { body: here }, 422, 900_064);
  server.fail('list', 'refuse');
  await buyer.refused(syncSteam, { body: here }, 403, 900_054);
  const { buyer: onXbox } = await aBuyer('xboxlive');
  await onXbox.refused(syncXboxlive, { body: { ...here, xbox_token: 'nonsense' } }, 422, 900_001);
});

test('PlayStation is served at both paths, with the field names of old and new clients', async () => {
  const { buyer } = await aBuyer('psn');
  psn.buy();
  const { psn_token } = await psn.proof();
  const old = { ...here, auth_code: psn_token!, env: 256, service_label: 1 };
  assert.deepEqual(await statesOf(buyer.call(syncPs, { body: old })), [2]);
  psn.buy();
  const proof = { psn_token: (await psn.proof()).psn_token!, psn_env: 256, psn_service_label: 1 };
  assert.deepEqual(await statesOf(buyer.call(syncPsn, { body: { ...here, ...proof } })), [2]);
  assert.equal(await balanceOf(buyer), 200);
  await buyer.refused(syncPsn, { body: here }, 422, 900_001);
});

test('a purchase whose answer was lost is finished by a job, with the tokens of the day on which it was synced', async () => {
  const { buyer } = await aBuyer('steam');
  steam.buy();
  server.fail('consume', 'lose the answer');
  assert.deepEqual(await statesOf(buyer.call(syncSteam, { body: here })), [1]);
  const params = { game_id: game.id, token_pack_id: pack.id };
  await game.studio.call(editGameTokenPack, { params, body: { tokens: 5 } });
  api.clock.advance(ATTEMPT);
  await worker.runDue();
  await game.studio.call(editGameTokenPack, { params, body: { tokens: 100 } });
  assert.equal(await balanceOf(buyer), 100);
  api.clock.advance(ATTEMPT);
  await worker.runDue();
  assert.equal(await balanceOf(buyer), 100);
  await agree();
});

test('two processes that sync the same purchase credit it once', async () => {
  const { buyer } = await aBuyer('xboxlive');
  xbox.buy(3);
  const body = { ...here, xbox_token: (await xbox.proof()).xbox_token! };
  const all = await Promise.all([1, 2, 3, 4].map(() => buyer.call(syncXboxlive, { body })));
  assert.equal(all.flatMap((each) => each.body.data).filter((each) => each.transaction_state === 2).length >= 1, true);
  assert.equal(await balanceOf(buyer), 300);
  await agree();
});

test('a buyer brings as many packs in a day as the terms allow; the rest stays at the store', async () => {
  const strict = await aSellingGame(api);
  await aPack(api, strict, { tokens: 10, skus: [`steam=${SKU}`] });
  const params = { game_id: strict.id };
  await strict.studio.call(editGameStore, { params: { ...params, portal: 'steam' }, body: { ...steam.settings } });
  await strict.studio.call(editGameSellingTerms, { params, body: { store_packs_per_day: 2 } });
  const { player, buyer } = await aBuyer('steam');
  for (let bought = 0; bought < 3; bought += 1) steam.buy();
  assert.deepEqual(await statesOf(buyer.call(syncSteam, { body: params })), [2, 2, 3]);
  assert.deepEqual(await statesOf(buyer.call(syncSteam, { body: params })), [3]);
  assert.equal(await balanceOf(buyer, strict), 20);
  api.clock.advance(DAY + 1);
  assert.deepEqual(await statesOf((await api.as(player)).call(syncSteam, { body: params })), [2]);
});

test('a checkout at a store says whether the account, its token or the purchase is wrong', async () => {
  const { params } = await aPaidMod(api, game, { tokenpack_id: pack.id });
  const body = { idempotent_key: 'at-store', type: 1 };
  const onXbox = { 'x-modio-portal': 'xboxlive' };
  const { buyer } = await aBuyer();
  const unlinked = { params, headers: onXbox, body: { ...body, xbox_token: (await xbox.proof()).xbox_token! } };
  await buyer.refused(purchase, unlinked, 400, 11_069);
  const { buyer: linked } = await aBuyer('xboxlive');
  await linked.refused(purchase, { ...unlinked, body: { ...body, xbox_token: 'nonsense' } }, 422, 900_002);
  await linked.refused(purchase, unlinked, 422, 900_064);
  xbox.buy();
  const bought = await linked.call(purchase, {
    ...unlinked,
    body: { ...body, xbox_token: (await xbox.proof()).xbox_token! },
  });
  assert.deepEqual([bought.status, bought.body.balance], [200, 0], bought.text);
  google.buy();
  const receiptSent = await receipt();
  server.fail('consume', 'busy');
  await buyer.call(syncGoogle, { body: receiptSent });
  const { buyer: other } = await aBuyer();
  const copied = { params, headers: { 'x-modio-portal': 'google' }, body: { ...body, receipt: receiptSent.receipt } };
  await other.refused(purchase, copied, 422, 900_007);
  await agree();
});

test('a list shows what a player owns at a store and consumes nothing', async () => {
  const { buyer } = await aBuyer('steam');
  steam.buy();
  const list = (headers: Record<string, string>) => buyer.call(getUserEntitlements, { body: here, headers });
  for (let times = 0; times < 2; times += 1)
    assert.deepEqual((await list({ 'x-modio-portal': 'Steam' })).body.data, [{ sku_id: SKU, entitlement_type: 0 }]);
  await buyer.refused(getUserEntitlements, { body: here, headers: { 'x-modio-portal': 'discord' } }, 400, 900_098);
  await buyer.refused(getUserEntitlements, { body: here }, 400, 900_098);
  const ofMeta = { 'x-modio-platform': 'oculus' };
  await buyer.refused(getUserEntitlements, { body: here, headers: ofMeta }, 403, 900_054);
  const { buyer: stranger } = await aBuyer();
  await stranger.refused(getUserEntitlements, { body: here, headers: { 'x-modio-portal': 'steam' } }, 400, 11_069);
});

let messages = 0;
/** Google tells that it has taken the latest purchase back. */
async function voided() {
  messages += 1;
  const purchase = JSON.parse(Buffer.from((await google.proof()).receipt!, 'base64').toString());
  const { packageName, purchaseToken } = purchase;
  const content = { packageName, voidedPurchaseNotification: { purchaseToken, productType: 2 } };
  const token = await keys.sign({
    iss: 'https://accounts.google.com',
    aud: String(google.settings['push_audience']),
    email: String(google.settings['push_email']),
    email_verified: true,
    sub: '1',
    iat: app.clock.now(),
    exp: app.clock.now() + 3_600,
  });
  return {
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: { message: { messageId: `${messages}`, data: Buffer.from(JSON.stringify(content)).toString('base64') } },
  };
}

const notify = async (input: Awaited<ReturnType<typeof voided>>) =>
  (await api.request('POST', '/v1/notifications/google', { headers: input.headers, body: JSON.stringify(input.body) }))
    .status;

test('what Google refunds is taken back once; what was spent of it is owed and settled by the next purchase', async () => {
  const { player, buyer } = await aBuyer();
  const { id } = player;
  google.buy();
  await buyer.call(syncGoogle, { body: await receipt() });
  assert.equal(await balanceOf(buyer), 100);
  await app.db.write((transaction) =>
    post(app, transaction, {
      kind: 'purchase',
      gameId: game.id,
      cause: { operation: 'test', actor: id },
      entries: [
        { account: tokenAccount('wallet', game.id, id), amount: -30 },
        { account: tokenAccount('studio_share', game.id), amount: 30 },
      ],
    }),
  );
  const notification = await voided();
  assert.equal(await notify(notification), 204);
  assert.equal(await notify(notification), 204);
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 30, pending: 0 });
  google.buy();
  await buyer.call(syncGoogle, { body: await receipt() });
  assert.deepEqual(await walletOf(buyer, game), { balance: 70, deficit: 0, pending: 0 });
});

test('a refund that arrives before the purchase is settled leaves nothing to fulfil', async () => {
  const { buyer } = await aBuyer();
  google.buy();
  server.fail('consume', 'busy');
  assert.deepEqual(await statesOf(buyer.call(syncGoogle, { body: await receipt() })), [1]);
  assert.equal(await notify(await voided()), 204);
  api.clock.advance(ATTEMPT);
  await worker.runDue();
  assert.deepEqual(await statesOf(buyer.call(syncGoogle, { body: await receipt() })), [0]);
  assert.deepEqual(await walletOf(buyer, game), { balance: 0, deficit: 0, pending: 0 });
});

test('a notification without proof of its origin is refused', async () => {
  const nobody = api.nobody();
  await nobody.refused(notifyGoogle, {}, 401, 17_040);
  await nobody.refused(notifyGoogle, { headers: { authorization: 'Bearer e30.a.b.c.d' } }, 401, 17_044);
  await nobody.refused(notifyApple, { body: { signedPayload: 'nothing' } }, 401, 17_046);
});

test('accounts with an unanswered purchase cannot be merged, and deleting one gives the purchase up', async () => {
  const { player, buyer } = await aBuyer('steam');
  steam.buy();
  server.fail('consume', 'busy');
  assert.deepEqual(await statesOf(buyer.call(syncSteam, { body: here })), [1]);
  const other = await api.as(await api.aUser());
  await other.refused(mergeOwnAccount, { body: { access_token: buyer.token! } }, 403, 17_043);
  await buyer.call(closeOwnAccount);
  await buyer.call(deleteOwnAccount, { body: { email: player.username } });
  api.clock.advance(ATTEMPT);
  await worker.runDue();
  const { state } = await app.db.query
    .selectFrom('store_fulfilments')
    .select('state')
    .where('user_id', '=', player.id)
    .executeTakeFirstOrThrow();
  assert.equal(state, 'failed');
});

test('administrators configure the stores of a game; secrets are never shown', async () => {
  const own = await aSellingGame(api);
  const params = { game_id: own.id, portal: 'steam' as const };
  const stranger = await api.as(await api.aUser());
  const body = { ...steam.settings };
  await stranger.refused(editGameStore, { params, body }, 403, 14_039);
  await stranger.refused(getGameStores, { params: { game_id: own.id } }, 403, 14_039);
  await own.studio.refused(editGameStore, { params, body: { app_id: 'x', bundle_id: 'a.b' } }, 422, 13_009);
  const shown = (await own.studio.call(editGameStore, { params, body })).body;
  assert.deepEqual([shown.settings, shown.secrets], [{ app_id: '480' }, ['web_api_key']]);
  assert.deepEqual((await own.studio.call(getGameStores, { params: { game_id: own.id } })).body.data, [shown]);
  await own.studio.call(deleteGameStore, { params });
  await own.studio.refused(deleteGameStore, { params }, 404, 14_000);
});
