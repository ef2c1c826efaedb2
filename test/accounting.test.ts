import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { composeWorker } from '../src/composition/compose.ts';
import { ACCOUNT_KINDS } from '../src/money/ledger/accounts.ts';
import { type PostingRow, postings } from '../src/money/ledger/statements.ts';
import { verifyLedger } from '../src/money/ledger/verification.ts';
import { requestPayoutOperation } from '../src/money/payouts/operations.ts';
import { purchase, refundPurchase } from '../src/money/purchases/operations.ts';
import { createRevenueTeam } from '../src/money/revenue-teams/operations.ts';
import { addSimulatedPurchase, refundSimulatedPurchase, syncSteam } from '../src/money/stores/operations.ts';
import { editGameSellingTerms } from '../src/money/terms/operations.ts';
import { type Client, startApi, type User } from './api.ts';
import { aPack, aPaidMod, aSeller, aSellingGame, buyPack, choose } from './money.ts';

const api = await startApi({
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_PAYOUTS: 'simulated',
    MODSTEAD_STORES: 'simulated',
    MODSTEAD_RATE_LIMITS: 'off',
  },
});
const app = api.app();
const worker = composeWorker(app);
const DAY = 86_400;
const guide = readFileSync('docs/accounting.md', 'utf8');
const names = new Map<number, string>();
const missing: string[] = [];
let lastId = 0;

/** What was posted since the last call, as the tables of the guide show it. */
async function posted(): Promise<string[]> {
  const rows: PostingRow[] = [];
  for await (const each of postings(app, {})) if (each.id > lastId) rows.push(each);
  lastId = rows.at(-1)?.id ?? lastId;
  return [...Map.groupBy(rows, ({ transaction_id }) => transaction_id).values()].map(tableOf);
}

function tableOf(rows: readonly PostingRow[]): string {
  const lines = rows.map(({ kind, user_id, currency, amount }) => {
    const owner = names.get(user_id);
    const account = owner ? `\`${kind}\` of ${owner}` : `\`${kind}\``;
    return `| ${account} | ${currency} | ${amount < 0 ? '−' : ''}${Math.abs(amount)} |`;
  });
  return [`| \`${rows[0]!.cause}\` | Currency | Amount |`, '| --- | --- | --- |', ...lines].join('\n');
}

async function shown(): Promise<void> {
  const tables = await posted();
  assert.ok(tables.length > 0);
  missing.push(...tables.filter((table) => !guide.includes(table)));
}

async function named(user: User, name: string): Promise<User> {
  names.set(user.id, name);
  return user;
}

async function pass(days: number): Promise<void> {
  api.clock.advance(days * DAY);
  await worker.runDue();
}

const buy = (client: Client, params: { game_id: number; mod_id: number }) =>
  client.call(purchase, { params, body: { idempotent_key: api.unique('key') } });

test('the worked examples of the guide for accountants are those of the books', async () => {
  const game = await aSellingGame(api);
  const inGame = { params: { game_id: game.id } };
  const ada = await named((await aSeller(api)).user, 'Ada');
  const ben = await named((await aSeller(api)).user, 'Ben');
  const carl = await named(await api.aUser(), 'Carl');
  const dora = await named(await api.aUser(), 'Dora');
  const terms = { tax_basis_points: 1_900, withholding_basis_points: 1_000, payout_min: 100, payout_fee: 25 };
  const changed = await game.studio.call(editGameSellingTerms, { ...inGame, body: terms });
  assert.equal(changed.status, 200, changed.text);
  const pack = await aPack(api, game, { tokens: 1_000, price: 999, skus: ['steam=coins'] });
  const { mod, author, params } = await aPaidMod(api, game, { price: 1_000 });
  await named(mod.owner, 'the leader');
  const shares = { 'users[0][id]': ada.id, 'users[0][split]': 70, 'users[1][id]': ben.id, 'users[1][split]': 30 };
  assert.equal((await author.call(createRevenueTeam, { params, body: shares })).status, 200);

  const payment = await buyPack(api, await api.as(carl), game, pack);
  await shown();
  assert.equal((await buy(await api.as(carl), params)).status, 200);
  await shown();

  await buyPack(api, await api.as(dora), game, pack);
  await buy(await api.as(dora), params);
  await posted();
  assert.equal((await (await api.as(dora)).call(refundPurchase, { params })).status, 200);
  await shown();

  const steam = { game_id: game.id, portal: 'steam' };
  const player = await api.as(dora, { gameId: game.id });
  const { id } = (await player.call(addSimulatedPurchase, { params: steam, body: { sku: 'coins' } })).body;
  await player.call(syncSteam, { body: { game_id: game.id } });
  await shown();
  await player.call(refundSimulatedPurchase, { params: { ...steam, simulated_purchase_id: id } });
  await shown();

  await pass(31);
  await shown();
  const asked = await (await api.as(ada)).call(requestPayoutOperation, { ...inGame, body: { idempotent_key: 'all' } });
  assert.equal(asked.status, 200, asked.text);
  await shown();
  await pass(1);
  await pass(1);
  await shown();

  await choose(api, payment.checkout_url, 'dispute');
  await pass(1);
  await shown();

  await buy(await api.as(dora), params);
  await posted();
  await pass(31);
  await shown();
  assert.equal(missing.join('\n\n'), '', 'docs/accounting.md lacks these tables');
  assert.deepEqual((await verifyLedger(app)).problems, []);
});

test('the guide for accountants lists every kind of account as the books describe it', () => {
  for (const [kind, { owner, unit, side, says }] of Object.entries(ACCOUNT_KINDS))
    assert.ok(guide.includes(`| \`${kind}\` | ${owner} | ${unit} | ${side} | ${says} |`), kind);
});
