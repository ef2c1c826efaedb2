import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aPack, aSellingGame, walletOf } from '../../../test/money.ts';
import { startStoreServer } from '../../../test/stores/server.ts';
import { BUYER, epicStandIn, SKU, steamStandIn, xboxStandIn } from '../../../test/stores/stand-ins.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { editGameStore, syncEpicgames, syncSteam, syncXboxlive } from './operations.ts';
import { takeReversedBack } from './reversals.ts';

const server = await startStoreServer({ secure: false });
const [steam, epic, xbox] = [steamStandIn(server), epicStandIn(server), xboxStandIn(server)] as const;
const api = await startApi({ settings: { ...server.settings, MODSTEAD_JOBS: 'off' } });
const app = api.app();
const look = () => takeReversedBack(app, async () => {});

for (const { standIn, sync, step } of [
  { standIn: steam, sync: syncSteam, step: 'report' },
  { standIn: epic, sync: syncEpicgames, step: 'list' },
  { standIn: xbox, sync: syncXboxlive, step: 'queue' },
])
  test(`what ${standIn.portal} refunds after it was consumed is taken back once, and nothing else`, async () => {
    const { portal } = standIn;
    const game = await aSellingGame(api);
    await aPack(api, game, { tokens: 100, skus: [`${portal}=${SKU}`] });
    await game.studio.call(editGameStore, { params: { game_id: game.id, portal }, body: { ...standIn.settings } });
    const player = await api.aUser();
    const account = { display_name: 'Buyer', avatar: '', date_added: 0, date_used: 0 };
    await app.db.write(({ query }) =>
      query
        .insertInto('portal_accounts')
        .values({ user_id: player.id, portal, portal_id: BUYER, game_id: 0, ...account })
        .execute(),
    );
    const buyer: Client = await api.as(player);
    const balance = async () => (await walletOf(buyer, game)).balance;
    const proof = portal === 'xboxlive' ? await standIn.proof() : {};
    const bring = () => buyer.call(sync as typeof syncXboxlive, { body: { game_id: game.id, ...proof } });
    standIn.buy();
    standIn.buy();
    await bring();
    assert.equal(await balance(), 200);
    await look();
    assert.equal(await balance(), 200, 'nothing was refunded');
    standIn.refund();
    server.fail(step, 'busy');
    await look();
    assert.equal(await balance(), 200, 'the store did not answer');
    await Promise.all([look(), look()]);
    assert.equal(await balance(), 100);
    await look();
    assert.equal(await balance(), 100, 'a second report changes nothing');
    standIn.buy();
    standIn.refund();
    await look();
    await bring();
    assert.equal(await balance(), 100, 'what was refunded before it was consumed gave nothing');
    assert.deepEqual((await verifyLedger(app)).problems, []);
  });

test('messages of the Microsoft Store leave the queue after the purchase was taken back, and no others do', () => {
  const removed = server.asked.filter(({ step }) => step === 'acknowledge').map(({ asked }) => asked.path);
  assert.equal(new Set(removed).size, 1);
});
