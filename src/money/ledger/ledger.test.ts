import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { startApi } from '../../../test/api.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { localiseLater } from '../../platform/localisation/texts.ts';
import { seededRandom } from '../../platform/runtime/random.ts';
import { balancesOf, type Entry, moneyAccount, type Posting, post, tokenAccount, UnbalancedError } from './ledger.ts';
import { statementOf } from './statements.ts';
import { verifyLedger } from './verification.ts';

const api = await startApi({ settings: { MODSTEAD_JOBS: 'off' } });
const cause = { operation: 'test', actor: 0 };

const posted = (posting: Posting) => api.app().db.write((transaction) => post(api.app(), transaction, posting));

const sale = (gameId: number, userId: number, tokens: number, price: number): Posting => ({
  kind: 'pack_sale',
  gameId,
  cause: { ...cause, provider: 'simulated', reference: `${gameId}/${userId}` },
  entries: [
    { account: tokenAccount('issued_tokens', gameId), amount: -tokens },
    { account: tokenAccount('wallet', gameId, userId), amount: tokens },
    { account: moneyAccount('gateway', gameId, 'USD', 'simulated'), amount: -price },
    { account: moneyAccount('token_sales', gameId, 'USD'), amount: price },
  ],
});

/** Not a `purchase`, which verification compares with what users own. */
const spending = (gameId: number, userId: number, tokens: number): Posting => ({
  kind: 'merge',
  gameId,
  cause,
  entries: [
    { account: tokenAccount('wallet', gameId, userId), amount: -tokens },
    { account: tokenAccount('studio_share', gameId), amount: tokens },
  ],
});

test('a posting that does not sum to zero in each currency is refused', async () => {
  const entries: Entry[] = [
    { account: tokenAccount('issued_tokens', 1), amount: -5 },
    { account: moneyAccount('token_sales', 1, 'USD'), amount: 5 },
  ];
  await assert.rejects(posted({ kind: 'pack_sale', gameId: 1, cause, entries }), UnbalancedError);
  const halves = [
    { account: tokenAccount('issued_tokens', 1), amount: -0.5 },
    { account: tokenAccount('studio_share', 1), amount: 0.5 },
  ];
  await assert.rejects(posted({ kind: 'purchase', gameId: 1, cause, entries: halves }), UnbalancedError);
  const elsewhere = [
    { account: tokenAccount('issued_tokens', 2), amount: -5 },
    { account: tokenAccount('studio_share', 2), amount: 5 },
  ];
  await assert.rejects(posted({ kind: 'purchase', gameId: 1, cause, entries: elsewhere }), UnbalancedError);
  await assert.rejects(posted({ kind: 'purchase', gameId: 1, cause, entries: [] }), UnbalancedError);
});

test('a wallet never goes below zero, however many spend from it at once', async () => {
  await posted(sale(11, 900, 100, 99));
  const attempts = await Promise.allSettled(Array.from({ length: 15 }, () => posted(spending(11, 900, 10))));
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 10);
  assert.deepEqual(await balancesOf(api.app().db, [tokenAccount('wallet', 11, 900)]), [0]);
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

test('the database refuses to change or remove what was posted', async () => {
  const id = await posted(sale(12, 901, 5, 5));
  const { db } = api.app();
  await assert.rejects(
    db.write(({ query }) => sql`update ledger_entries set amount = 1 where transaction_id = ${id}`.execute(query)),
    /append-only/,
  );
  await assert.rejects(
    db.write(({ query }) => sql`delete from ledger_transactions where id = ${id}`.execute(query)),
    /append-only/,
  );
  await assert.rejects(
    db.write(({ query }) => sql`update ledger_accounts set balance = -1 where kind = 'wallet'`.execute(query)),
  );
});

test('a transaction is taken back at most once', async () => {
  const bought = await posted(sale(13, 902, 5, 5));
  const { entries } = sale(13, 902, 5, 5);
  const back: Posting = {
    kind: 'pack_refund',
    gameId: 13,
    cause,
    reverses: bought,
    entries: entries.map(({ account, amount }) => ({ account, amount: -amount })),
  };
  await posted(back);
  await posted(sale(13, 902, 5, 5));
  await assert.rejects(posted(back));
});

test('verification finds a balance that was changed in the database', async () => {
  await posted(sale(14, 903, 5, 5));
  const { db } = api.app();
  const set = (balance: number) =>
    db.write(({ query }) =>
      sql`update ledger_accounts set balance = ${balance} where user_id = 903 and kind = 'wallet'`.execute(query),
    );
  await set(500);
  const { problems } = await verifyLedger(api.app());
  const [account, total] = problems.map((problem) => localiseLater(problem, 'en'));
  assert.match(account!, /a balance of 500 and 1 entries; expected were 5 and 1\.$/);
  assert.equal(total, 'All accounts together do not balance: 495 TOKEN:14.');
  await set(5);
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
});

/** A posting is refused before it has written anything. */
const isPosted = (transaction: Transaction, posting: Posting): Promise<boolean> =>
  post(api.app(), transaction, posting).then(
    () => true,
    (error) => {
      if (error instanceof ApiError && error.error === 'MONETIZATION_INSUFFICIENT_FUNDS') return false;
      throw error;
    },
  );

const OPERATIONS = Number(process.env['MODSTEAD_TEST_LEDGER'] ?? 5_000);
const WRITTEN_AT_ONCE = 200;

/** A naive model of the books: a number per account, and the rule that a wallet stays at zero or above. */
class Model {
  readonly balances = new Map<string, number>();
  post({ entries }: Posting): boolean {
    const after = new Map<string, number>();
    for (const { account, amount } of entries) {
      const name = JSON.stringify(account);
      after.set(name, (after.get(name) ?? this.balances.get(name) ?? 0) + amount);
    }
    const isShort = [...after].some(([name, balance]) => name.includes('"wallet"') && balance < 0);
    if (!isShort) for (const [name, balance] of after) this.balances.set(name, balance);
    return !isShort;
  }
}

test(`the books agree with a naive model after ${OPERATIONS} random operations`, async () => {
  const random = seededRandom(process.env['MODSTEAD_TEST_SEED'] ?? 'ledger');
  const below = (most: number) => random.bytes(4).readUInt32BE() % most;
  const model = new Model();
  const app = api.app();
  const next = (): Posting => {
    const [game, user] = [100 + below(3), 1_000 + below(40)];
    return below(3) === 0 ? sale(game, user, 1 + below(500), 1 + below(900)) : spending(game, user, 1 + below(300));
  };
  let refused = 0;
  for (let done = 0; done < OPERATIONS; done += WRITTEN_AT_ONCE) {
    const batch = Array.from({ length: WRITTEN_AT_ONCE }, next);
    const isAllowed = batch.map((each) => model.post(each));
    refused += isAllowed.filter((allowed) => !allowed).length;
    // One transaction for many postings: the model is serial, and a commit per posting would measure the disk.
    const wasPosted = await app.db.write(async (transaction) => {
      const results: boolean[] = [];
      for (const each of batch) results.push(await isPosted(transaction, each));
      return results;
    });
    assert.deepEqual(wasPosted, isAllowed);
  }
  assert.ok(refused > OPERATIONS / 100, `${refused} refused`);
  const names = [...model.balances.keys()];
  const accounts = names.map((name) => JSON.parse(name));
  const found: number[] = [];
  for (let at = 0; at < accounts.length; at += 50)
    found.push(...(await balancesOf(app.db, accounts.slice(at, at + 50))));
  assert.deepEqual(found, [...model.balances.values()]);
  const verdict = await verifyLedger(app);
  assert.deepEqual(verdict.problems, []);
  const lines = await statementOf(app, { gameId: 100 });
  for (const { opening, credits, debits, closing } of lines) assert.equal(opening + credits - debits, closing);
});
