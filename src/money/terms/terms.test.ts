import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { startApi } from '../../../test/api.ts';
import { aSellingGame } from '../../../test/money.ts';
import { DEFAULT_TERMS } from './fields.ts';
import { editGameSellingTerms, getGameSellingTerms, getGameSellingTermsHistory } from './operations.ts';
import { sharesOf, taxedPrice } from './terms.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });

test('terms are the defaults until administrators change them, and every change stays in the history', async () => {
  const game = await aSellingGame(api);
  const params = { game_id: game.id };
  const first = (await game.studio.call(getGameSellingTerms, { params })).body;
  assert.deepEqual([first.id, first.seller_basis_points, first.hold_days, first.refunds_per_year], [0, 7_000, 30, 8]);
  await game.studio.call(editGameSellingTerms, { params, body: { seller_basis_points: 8_000 } });
  const changed = (await game.studio.call(editGameSellingTerms, { params, body: { hold_days: 14 } })).body;
  assert.deepEqual([changed.seller_basis_points, changed.hold_days], [8_000, 14]);
  const { data } = (await game.studio.call(getGameSellingTermsHistory, { params })).body;
  assert.deepEqual(
    data.map(({ seller_basis_points, hold_days, changed_by }) => [seller_basis_points, hold_days, changed_by]),
    [
      [8_000, 14, game.owner.id],
      [8_000, 30, game.owner.id],
    ],
  );
});

test('terms that cannot be met are refused', async () => {
  const game = await aSellingGame(api);
  const params = { game_id: game.id };
  for (const body of [
    { seller_basis_points: 10_001 },
    { price_min: 10, price_max: 9 },
    { fee_micros: 0, pool_micros: 0 },
  ])
    await game.studio.refused(editGameSellingTerms, { params, body }, 422, 13_009);
});

test('only the team sees the terms, and only administrators change them', async () => {
  const game = await aSellingGame(api);
  const params = { game_id: game.id };
  const moderator = await api.aUser();
  await api.joins(moderator, game, 1);
  const member = await api.as(moderator);
  assert.equal((await member.call(getGameSellingTerms, { params })).status, 200);
  await member.refused(editGameSellingTerms, { params, body: { hold_days: 1 } }, 403, 14_002);
  const stranger = await api.as(await api.aUser());
  await stranger.refused(getGameSellingTerms, { params }, 403, 14_002);
  await stranger.refused(getGameSellingTermsHistory, { params }, 403, 14_002);
});

test('shares and taxes always add up to the price', () => {
  const terms = fc.record({
    fee_micros: fc.integer({ min: 0, max: 1_000_000 }),
    pool_micros: fc.integer({ min: 1, max: 1_000_000 }),
    seller_basis_points: fc.integer({ min: 0, max: 10_000 }),
    tax_basis_points: fc.integer({ min: 0, max: 10_000 }),
    tax_included: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 1_000_000_000 }), terms, (price, changes) => {
      const all = { ...DEFAULT_TERMS, ...changes };
      const { fee, seller, studio } = sharesOf(price, all);
      assert.equal(fee + seller + studio, price);
      assert.ok(fee >= 0 && seller >= 0 && studio >= 0);
      const { total, tax } = taxedPrice(price, all);
      assert.ok(tax >= 0 && tax <= total && total - tax <= price);
    }),
  );
  assert.deepEqual(sharesOf(100, DEFAULT_TERMS), { fee: 23, seller: 53, studio: 24 });
});
