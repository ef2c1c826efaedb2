import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type CallInput, startApi } from '../../../test/api.ts';
import { aPack, aSellingGame, walletOf } from '../../../test/money.ts';
import { composeWorker } from '../../composition/compose.ts';
import { verifyLedger } from '../ledger/verification.ts';
import {
  addSimulatedPurchase,
  editGameStore,
  getUserEntitlements,
  paySimulatedPurchase,
  refundSimulatedPurchase,
  syncGoogle,
  syncMeta,
  syncSteam,
} from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off', MODSTEAD_STORES: 'simulated' } });
const app = api.app();
const worker = composeWorker(app);
const game = await aSellingGame(api);
await aPack(api, game, { tokens: 100, skus: ['steam=1001', 'oculus=coins', 'google=coins'] });
const here = { game_id: game.id };

async function aBuyer() {
  const player = await api.aUser();
  const client = await api.as(player);
  const at = (portal: string) => ({ ...here, portal });
  const buy = async (body: CallInput['body'], portal = 'steam') =>
    (await client.call(addSimulatedPurchase, { params: at(portal), body })).body;
  const of = (purchase: { id: number; portal: string }) => ({
    params: { ...at(purchase.portal), simulated_purchase_id: purchase.id },
  });
  const sync = async (operation = syncSteam) =>
    (await client.call(operation, { body: here })).body.data.map((each) => each.transaction_state);
  return { player, client, at, buy, of, sync, wallet: () => walletOf(client, game) };
}

test('a player buys, syncs and gets the tokens once; a refund takes them back once', async () => {
  const { client, buy, of, sync, wallet } = await aBuyer();
  const purchase = await buy({ sku: '1001', quantity: 3 });
  assert.deepEqual([purchase.state, purchase.quantity], ['owned', 3]);
  const headers = { 'x-modio-portal': 'steam' };
  const { data } = (await client.call(getUserEntitlements, { body: here, headers })).body;
  assert.deepEqual(data, [{ sku_id: '1001', entitlement_type: 0 }]);
  assert.deepEqual(await sync(), [2]);
  assert.deepEqual(await sync(), []);
  assert.equal((await wallet()).balance, 300);
  for (let times = 0; times < 2; times += 1)
    assert.equal((await client.call(refundSimulatedPurchase, of(purchase))).body.state, 'revoked');
  assert.deepEqual(await wallet(), { balance: 0, deficit: 0, pending: 0 });
  assert.deepEqual((await verifyLedger(app)).problems, []);
});

test('each store is simulated, also those that need a receipt or a linked account', async () => {
  const { buy, sync, wallet } = await aBuyer();
  await buy({ sku: 'coins' }, 'oculus');
  await buy({ sku: 'coins' }, 'google');
  assert.deepEqual([await sync(syncMeta), await sync(syncGoogle)], [[2], [2]]);
  assert.equal((await wallet()).balance, 200);
});

test('a store that is out of order, or whose answer is lost, is asked again by a job', async () => {
  const { player, buy, sync, wallet } = await aBuyer();
  await buy({ sku: '1001', fault: 'busy' });
  await buy({ sku: '1001', fault: 'lost_answer' });
  assert.deepEqual(await sync(), [1, 1]);
  assert.equal((await wallet()).balance, 0);
  api.clock.advance(121);
  await worker.runDue();
  assert.equal((await walletOf(await api.as(player), game)).balance, 200);
});

test('after an outage one run of the job finishes all purchases that wait', async () => {
  const { player, buy, sync } = await aBuyer();
  for (let bought = 0; bought < 120; bought += 1) await buy({ sku: '1001', fault: 'lost_answer' });
  assert.equal((await sync()).filter((state) => state === 1).length, 120);
  api.clock.advance(121);
  await worker.runDue();
  assert.equal((await walletOf(await api.as(player), game)).balance, 12_000);
});

test('what is not paid yet is pending, and counts after the payment', async () => {
  const { client, buy, of, sync, wallet } = await aBuyer();
  const purchase = await buy({ sku: '1001', pending: true });
  assert.deepEqual(await sync(), [1]);
  assert.equal((await client.call(paySimulatedPurchase, of(purchase))).body.state, 'owned');
  assert.deepEqual(await sync(), [2]);
  assert.equal((await wallet()).balance, 100);
});

test('purchases belong to their buyer, name a product of the game, and need a store without settings', async () => {
  const { buy, of, client, at } = await aBuyer();
  const purchase = await buy({ sku: '1001' });
  const { client: stranger } = await aBuyer();
  await stranger.refused(refundSimulatedPurchase, of(purchase), 404, 14_000);
  await client.refused(paySimulatedPurchase, of({ ...purchase, portal: 'google' }), 404, 14_000);
  await client.refused(addSimulatedPurchase, { params: at('steam'), body: { sku: 'other' } }, 422, 900_051);
  const configured = { params: { ...here, portal: 'xboxlive' }, body: { sandbox: 'RETAIL' } };
  await game.studio.call(editGameStore, configured);
  await client.refused(addSimulatedPurchase, { params: at('xboxlive'), body: { sku: 'any' } }, 403, 900_054);
});
