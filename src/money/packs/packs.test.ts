import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../../../test/api.ts';
import { aPack, aSellingGame } from '../../../test/money.ts';
import { getUserWallet } from '../wallets/operations.ts';
import { addGameTokenPack, deleteGameTokenPack, editGameTokenPack, getGameTokenPacks } from './operations.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

test('administrators set what packs a game sells, and buyers see them by portal', async () => {
  const game = await aSellingGame(api);
  const params = { game_id: game.id };
  const large = await aPack(api, game, { tokens: 1_000, price: 999, skus: ['steam=1002', 'google=large'] });
  const small = await aPack(api, game, { skus: ['steam=1001'] });
  const buyer = await api.as(await api.aUser());
  const all = (await buyer.call(getGameTokenPacks, { params })).body.data;
  assert.deepEqual(
    all.map(({ token_pack_id, portal, sku }) => [token_pack_id, portal, sku]),
    [
      [small.id, '', ''],
      [small.id, 'steam', '1001'],
      [large.id, '', ''],
      [large.id, 'steam', '1002'],
      [large.id, 'google', 'large'],
    ],
  );
  const headers = { 'x-modio-portal': 'Steam' };
  const { data: onSteam, ...beside } = (await buyer.call(getGameTokenPacks, { params, headers })).body;
  assert.deepEqual(
    onSteam.map(({ sku, amount, price, currency }) => [sku, amount, price, currency]),
    [
      ['1001', 100, 199, 'USD'],
      ['1002', 1_000, 999, 'USD'],
    ],
  );
  const envelope = { result_count: 2, result_offset: 0, result_limit: 100, result_total: 2 };
  assert.deepEqual(beside, { ...envelope, ...onSteam[0] });
  const none = (await buyer.call(getGameTokenPacks, { params, headers, query: { _offset: 5 } })).body;
  assert.deepEqual(none, { data: [], ...envelope, result_count: 0, result_offset: 5 });
});

test('a SKU means one pack of a game, and is free again when the pack is gone', async () => {
  const game = await aSellingGame(api);
  const pack = await aPack(api, game, { skus: ['steam=7'] });
  const other = await aPack(api, game);
  const params = { game_id: game.id, token_pack_id: other.id };
  await game.studio.refused(editGameTokenPack, { params, body: { skus: ['steam=7'] } }, 422, 13_009);
  await game.studio.refused(editGameTokenPack, { params, body: { skus: ['nowhere=7'] } }, 422, 13_009);
  await game.studio.call(deleteGameTokenPack, { params: { ...params, token_pack_id: pack.id } });
  await game.studio.call(editGameTokenPack, { params, body: { skus: ['steam=7'] } });
  await game.studio.refused(deleteGameTokenPack, { params: { ...params, token_pack_id: pack.id } }, 404, 14_000);
  const elsewhere = await aSellingGame(api);
  await elsewhere.studio.refused(
    editGameTokenPack,
    { params: { ...params, game_id: elsewhere.id }, body: { price: 1 } },
    404,
    14_000,
  );
});

test('only administrators of the game change its packs', async () => {
  const game = await aSellingGame(api);
  const manager = await api.aUser();
  await api.joins(manager, game, 4);
  const body = { name: 'Mine', tokens: 1, price: 1 };
  for (const client of [await api.as(manager), await api.as(await api.aUser())])
    await client.refused(addGameTokenPack, { params: { game_id: game.id }, body }, 403, 14_002);
});

test('a wallet is empty at first, and a game that does not sell has none', async () => {
  const game = await aSellingGame(api);
  const buyer = await api.as(await api.aUser());
  const wallet = (await buyer.call(getUserWallet, { query: { game_id: game.id } })).body;
  assert.deepEqual(
    { ...wallet, payment_method_id: '' },
    {
      type: 'standard_mio',
      payment_method_id: '',
      game_id: String(game.id),
      currency: 'mio',
      balance: 0,
      pending_balance: 0,
      deficit: 0,
      monetization_status: 0,
    },
  );
  const idle = await aSellingGame(api, 0);
  await buyer.refused(getUserWallet, { query: { game_id: idle.id } }, 404, 900_022);
  await buyer.refused(getUserWallet, { query: { game_id: 999_999 } }, 404, 14_001);
});
