import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startApi } from '../../../test/api.ts';
import { aBuyer, aPaidMod, aSeller, aSellingGame, type SellingGame } from '../../../test/money.ts';
import { composeWorker } from '../../composition/compose.ts';
import { postings } from '../ledger/statements.ts';
import { requestPayoutOperation } from '../payouts/operations.ts';
import { purchase, refundGamePurchase } from '../purchases/operations.ts';
import { createRevenueTeam } from '../revenue-teams/operations.ts';
import { editGameSellingTerms } from '../terms/operations.ts';
import {
  exportGameSellerStatements,
  exportGameStatement,
  exportStaffStatements,
  exportUserStatements,
  getGameSellerStatements,
  getGameStatement,
  getStaffStatements,
  getUserStatements,
} from './operations.ts';

const api = await startApi({
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_PAYOUTS: 'simulated',
    MODSTEAD_RATE_LIMITS: 'off',
  },
});
const app = api.app();
const worker = composeWorker(app);
const DAY = 86_400;
const dayOf = (second: number) => new Date(second * 1_000).toISOString().slice(0, 10);
const today = () => dayOf(app.clock.now());

async function sell(game: SellingGame, params: { game_id: number; mod_id: number }): Promise<number> {
  // Tokens live for a day, and the clock jumps.
  const { buyer } = await aBuyer(api, { ...game, studio: await api.as(game.owner) }, 1_000);
  const answer = await buyer.call(purchase, { params, body: { idempotent_key: 'once' } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.transaction_id;
}

async function pass(days: number) {
  api.clock.advance(days * DAY);
  await worker.runDue();
}

/** A game in which two sellers share 1,000 tokens per sale, over three periods. */
async function history() {
  const game = await aSellingGame(api);
  const { user: one } = await aSeller(api);
  const { user: two } = await aSeller(api);
  const terms = { withholding_basis_points: 1_000, payout_fee: 25, payout_min: 100, studio_refund_days: 300 };
  await game.studio.call(editGameSellingTerms, { params: { game_id: game.id }, body: terms });
  const { author, params } = await aPaidMod(api, game, { price: 1_000 });
  const shares = { 'users[0][id]': one.id, 'users[0][split]': 60, 'users[1][id]': two.id, 'users[1][split]': 40 };
  assert.equal((await author.call(createRevenueTeam, { params, body: shares })).status, 200);
  const sold = [await sell(game, params), await sell(game, params)];
  const first = { from: today(), to: today() };
  await pass(31);
  const second = { from: today(), to: today() };
  await pass(1);
  const asked = (client: Client) =>
    client.call(requestPayoutOperation, {
      params: { game_id: game.id },
      body: { idempotent_key: 'all' },
    });
  assert.equal((await asked(await api.as(one))).status, 200);
  await pass(1);
  await pass(1);
  const body = { reason: 'Broken' };
  const refund = { params: { game_id: game.id, purchase_id: sold[0]! }, body };
  const answer = await (await api.as(game.owner)).call(refundGamePurchase, refund);
  assert.equal(answer.status, 200, answer.text);
  const third = { from: dayOf(app.clock.now() - 2 * DAY), to: today() };
  return { game, one, two, periods: [first, second, third] };
}
const { game, one, two, periods } = await history();
const studio = await api.as(game.owner);
const inGame = { params: { game_id: game.id } };

const figures = async (client: Client, query: Record<string, string>) =>
  (await client.call(getUserStatements, { query })).body.data.map(
    ({ user_id, game_id, date_from, date_until, ...rest }) => rest,
  );
const NONE = { sales: 0, refunds: 0, clearing: 0, taxes: 0, fees: 0, payouts: 0, transfers: 0, in_transit: 0 };

test('a seller reads what each period brought, from sales to payouts', async () => {
  const seller = await api.as(one);
  const [first, second, third] = periods;
  const tokens = `TOKEN:${game.id}`;
  const [sold] = await figures(seller, first!);
  const share = sold!.sales / 2;
  assert.deepEqual(sold, { ...NONE, currency: tokens, opening: 0, sales: share * 2, closing: share * 2 });
  const gross = Math.floor((share * 2 * 5_200) / 10_000);
  const [paid, cleared] = await figures(seller, second!);
  const taxes = -[0, 1].reduce((sum, at) => {
    const value = Math.floor((share * (at + 1) * 5_200) / 10_000) - Math.floor((share * at * 5_200) / 10_000);
    return sum + Math.ceil(value / 10);
  }, 0);
  assert.deepEqual(cleared, { ...NONE, currency: 'USD', opening: 0, clearing: gross, taxes, closing: gross + taxes });
  assert.deepEqual(paid, { ...NONE, currency: tokens, opening: share * 2, clearing: -share * 2, closing: 0 });
  const [last] = await figures(seller, third!);
  const { opening, payouts, fees, refunds, taxes: returned, closing } = last!;
  assert.equal(opening, gross + taxes);
  assert.deepEqual([payouts, fees], [25 - opening, -25]);
  assert.ok(refunds < 0 && returned > 0, JSON.stringify(last));
  assert.equal(closing, refunds + returned, 'what was paid out and then refunded is owed');
});

test('the statements equal the books to the unit, for a game, its sellers and the site', async () => {
  const staff = await api.as(await api.aUser({ admin: true }));
  for (const query of [...periods, { from: periods[0]!.from, to: today() }]) {
    const { accounts } = (await studio.call(getGameStatement, { ...inGame, query })).body;
    const from = Date.parse(query.from) / 1_000;
    const until = Date.parse(query.to) / 1_000 + DAY;
    const booked = new Map<string, { opening: number; closing: number }>();
    for await (const { kind, currency, amount, date_added } of postings(app, { gameId: game.id })) {
      const name = `${kind} ${currency}`;
      const sum = booked.get(name) ?? { opening: 0, closing: 0 };
      if (date_added < from) sum.opening += amount;
      if (date_added < until) sum.closing += amount;
      booked.set(name, sum);
    }
    const sums = new Map<string, number>();
    for (const { account, provider, says, currency, ...each } of accounts) {
      const { opening, closing, ...moved } = each;
      assert.equal(opening + Object.values(moved).reduce((sum, value) => sum + value, 0), closing, account);
      if (account !== 'gateway') assert.deepEqual({ opening, closing }, booked.get(`${account} ${currency}`), account);
      for (const [column, value] of Object.entries(each))
        sums.set(`${column} ${currency}`, (sums.get(`${column} ${currency}`) ?? 0) + value);
    }
    for (const [column, sum] of sums) assert.equal(sum, 0, column);
    const sellers = (await studio.call(getGameSellerStatements, { ...inGame, query })).body;
    assert.equal(sellers.result_total, 3, 'two who share, and the leader, who has the fractions');
    const closing = (currency: string) =>
      sellers.data.filter((each) => each.currency === currency).reduce((sum, each) => sum + each.closing, 0);
    const inBooks = (...kinds: string[]) => kinds.reduce((sum, kind) => sum + (booked.get(kind)?.closing ?? 0), 0);
    assert.equal(closing('USD'), inBooks('earnings USD', 'earnings_deficit USD'));
    assert.equal(closing(`TOKEN:${game.id}`), inBooks(`pending_earnings TOKEN:${game.id}`));
    const site = (await staff.call(getStaffStatements, { query })).body.data;
    assert.deepEqual(site.find(({ game_id }) => game_id === game.id)!.accounts, accounts);
  }
});

test('each statement is a CSV file with the same figures', async () => {
  const query = periods[2]!;
  const seller = await api.as(two);
  const [own] = (await seller.call(getUserStatements, { query })).body.data;
  const [head, line] = (await seller.call(exportUserStatements, { query })).text.split('\r\n');
  const values = Object.values(own!).map((value) => (typeof value === 'string' ? `"${value}"` : value));
  assert.deepEqual([head, line], [Object.keys(own!).join(), values.join()]);
  const lines = (text: string) => text.trim().split('\r\n').length - 1;
  const { accounts } = (await studio.call(getGameStatement, { ...inGame, query })).body;
  assert.equal(lines((await studio.call(exportGameStatement, { ...inGame, query })).text), accounts.length);
  const sellers = (await studio.call(getGameSellerStatements, { ...inGame, query })).body.data;
  assert.equal(lines((await studio.call(exportGameSellerStatements, { ...inGame, query })).text), sellers.length);
  const staff = await api.as(await api.aUser({ admin: true }));
  assert.ok(lines((await staff.call(exportStaffStatements, { query })).text) >= accounts.length);
});

test('a period is a month or days, and only administrators read the books of a game', async () => {
  const stranger = await api.as(await api.aUser());
  const month = today().slice(0, 7);
  const { date_from, date_until } = (await studio.call(getGameStatement, { ...inGame, query: { month } })).body;
  assert.deepEqual([dayOf(date_from), dayOf(date_until).slice(8)], [`${month}-01`, '01']);
  assert.deepEqual((await stranger.call(getUserStatements)).body.data, []);
  for (const query of [
    { month: '2026-13' },
    { month, from: today() },
    { from: '2026-02-02', to: '2026-02-01' },
    { from: '2020-01-01' },
  ])
    await studio.refused(getGameStatement, { ...inGame, query }, 422, 13009);
  await stranger.refused(getGameStatement, inGame, 403, 14002);
  await stranger.refused(getGameSellerStatements, inGame, 403, 14002);
  await studio.refused(getStaffStatements, {}, 403, 17012);
});
