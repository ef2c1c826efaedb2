import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aBuyer, aPack, aPaidMod, aSellingGame, buyPack, choose } from '../../../test/money.ts';
import { composeWorker } from '../../composition/compose.ts';
import { getGamePurchases, purchase, refundGamePurchase } from '../purchases/operations.ts';
import { addLedgerCheck, getGameTransactions, getLedgerChecks, getStaffTransactions } from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});
const worker = composeWorker(api.app());
const admin = await api.as(await api.aUser({ admin: true }));
const game = await aSellingGame(api);
const params = { game_id: game.id };
const { buyer, user } = await aBuyer(api, game);
const sold = await aPaidMod(api, game, { price: 40 });
const bought = await buyer.call(purchase, { params: sold.params, body: { idempotent_key: 'once' } });
const disputed = await buyPack(api, buyer, game, await aPack(api, game));
await choose(api, disputed.checkout_url, 'dispute');
assert.equal(bought.status, 200, bought.text);

test('the transactions of a game are those of its books, the newest first, and disputes can be listed alone', async () => {
  const { data, result_total } = (await game.studio.call(getGameTransactions, { params })).body;
  const kinds = data.map(({ kind }) => kind);
  assert.deepEqual(kinds, ['chargeback', 'pack_sale', 'purchase', 'pack_sale']);
  assert.equal(result_total, 4);
  for (const { entries } of data) {
    const sums = Map.groupBy(entries, ({ currency }) => currency);
    for (const of of sums.values())
      assert.equal(
        of.reduce((sum, { amount }) => sum + amount, 0),
        0,
      );
  }
  const disputes = (await game.studio.call(getGameTransactions, { params, query: { kind: 'disputes' } })).body;
  assert.deepEqual(
    disputes.data.map(({ kind, reverses_id }) => [kind, reverses_id]),
    [['chargeback', data[1]!.id]],
  );
  assert.equal(disputes.result_total, 1);
  const second = (await game.studio.call(getGameTransactions, { params, query: { _limit: 1, _offset: 2 } })).body;
  assert.deepEqual([second.data[0]!.kind, second.result_total], ['purchase', 4]);
});

test('administrators of the site list the books of all games, and others neither', async () => {
  const other = await aSellingGame(api);
  await aBuyer(api, other);
  const { data } = (await admin.call(getStaffTransactions, {})).body;
  assert.deepEqual([...new Set(data.map(({ game_id }) => game_id))], [other.id, game.id]);
  const query = { kind: 'chargeback', game_id: other.id } as const;
  assert.equal((await admin.call(getStaffTransactions, { query })).body.result_total, 0);
  await buyer.refused(getGameTransactions, { params }, 403, 14_002);
  await buyer.refused(getGamePurchases, { params }, 403, 14_002);
  await game.studio.refused(getStaffTransactions, {}, 403, 17_012);
});

test('administrators of a game find a purchase by its buyer, and see that it was refunded', async () => {
  const query = { user_id: user.id };
  const [found, ...rest] = (await game.studio.call(getGamePurchases, { params, query })).body.data;
  assert.deepEqual([found?.mod_id, found?.price, found?.status, rest.length], [sold.mod.id, 40, 'paid', 0]);
  const named = { params: { ...params, purchase_id: found!.id }, body: { reason: 'Broken' } };
  assert.equal((await game.studio.call(refundGamePurchase, named)).status, 200);
  const refunded = (await game.studio.call(getGamePurchases, { params, query: { status: 'refunded' } })).body;
  assert.deepEqual(
    refunded.data.map(({ id }) => id),
    [found!.id],
  );
  assert.equal((await game.studio.call(getGamePurchases, { params, query: { mod_id: 999_999 } })).body.result_total, 0);
});

test('a check of the books runs in the background, once at a time, and names what is wrong', async () => {
  const { body: first } = await admin.call(addLedgerCheck, {});
  assert.equal(first.state, 'waiting');
  assert.equal((await admin.call(addLedgerCheck, {})).body.id, first.id);
  await worker.runDue();
  const last = async () => (await admin.call(getLedgerChecks, {})).body.data[0]!;
  const right = await last();
  assert.deepEqual([right.id, right.state, right.problems], [first.id, 'right', []]);
  assert.ok(right.transactions >= 4 && right.date_ended > 0);
  const wrong = api.app().db.write(({ query }) =>
    query
      .updateTable('ledger_accounts')
      .set((eb) => ({ balance: eb('balance', '+', 1) }))
      .where('kind', '=', 'token_sales')
      .where('game_id', '=', game.id)
      .execute(),
  );
  await wrong;
  await admin.call(addLedgerCheck, {});
  await worker.runDue();
  const found = await last();
  assert.equal(found.state, 'wrong');
  assert.match(found.problems[0]!, /^Account \d+ has a balance of -?\d+ and \d+ entries; expected were/);
  const inFrench = await admin.call(getLedgerChecks, { headers: { 'accept-language': 'fr' } });
  assert.match(inFrench.body.data[0]!.problems[0]!, /^Le compte \d+ a un solde de -?\d+ et \d+ écritures/);
  await game.studio.refused(addLedgerCheck, {}, 403, 17_012);
  await game.studio.refused(getLedgerChecks, {}, 403, 17_012);
});
