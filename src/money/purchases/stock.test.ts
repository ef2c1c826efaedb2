import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aPack, aPaidMod, aSellingGame, walletOf } from '../../../test/money.ts';
import { getMod } from '../../catalogue/mods/operations.ts';
import { chooseOutcome } from '../gateways/simulated.ts';
import { verifyLedger } from '../ledger/verification.ts';
import { buyTokenPack } from '../payments/operations.ts';
import { settleReference } from '../payments/payments.ts';
import { purchase } from './operations.ts';

const api = await startApi({
  settings: { MODSTEAD_JOBS: 'off', MODSTEAD_PAYMENTS: 'simulated', MODSTEAD_RATE_LIMITS: 'off' },
});

test('200 buyers want 100 copies: 100 are sold, and 100 buyers learn that they came too late', async () => {
  const game = await aSellingGame(api, 1 | 2 | 8);
  const offer = { price: 10, monetization_options: 1 | 2 | 8, stock: 100 };
  const { params, author } = await aPaidMod(api, game, offer);
  const pack = await aPack(api, game, { tokens: 10 });
  const ofPack = { game_id: game.id, token_pack_id: pack.id };
  const buyers: Client[] = [];
  for (let i = 0; i < 200; i += 1) {
    const buyer = await api.as(await api.aUser());
    const payment = (await buyer.call(buyTokenPack, { params: ofPack, body: { idempotent_key: 'pack' } })).body;
    // Without its page: 200 page visits take longer than everything else here.
    const reference = payment.checkout_url.split('/').at(-1)!;
    await chooseOutcome(api.app(), reference, 'pay');
    await settleReference(api.app(), 'simulated', reference);
    buyers.push(buyer);
  }
  const body = { idempotent_key: 'mod', display_amount: 10 };
  const answers = await Promise.all(buyers.map((buyer) => buyer.call(purchase, { params, body })));
  const outcomes = answers.map(({ status, text }) => (status === 200 ? 200 : JSON.parse(text).error.error_ref));
  const count = (outcome: number) => outcomes.filter((each) => each === outcome).length;
  assert.deepEqual([count(200), count(900_061)], [100, 100], `${outcomes.filter((each) => each !== 200)}`);
  assert.equal((await author.call(getMod, { params })).body.stock, 0);
  assert.equal((await walletOf(author, game)).pending, 500);
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});
