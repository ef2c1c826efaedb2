import type { Selectable } from 'kysely';
import {
  type Database,
  type Query,
  type Statement,
  statement,
  type Transaction,
} from '../../platform/database/database.ts';
import { withUpdateLock } from '../../platform/database/locks.ts';
import type {
  LedgerAccountsTable,
  LedgerChecksTable,
  LedgerEntriesTable,
  LedgerHeadsTable,
  LedgerTransactionsTable,
} from './table.ts';

export type AccountRow = Selectable<LedgerAccountsTable>;
export type TransactionRow = Selectable<LedgerTransactionsTable>;
export type EntryRow = Selectable<LedgerEntriesTable>;
export type NewTransaction = Omit<TransactionRow, 'id'>;
export type AccountKey = Pick<AccountRow, 'kind' | 'user_id' | 'provider' | 'game_id' | 'currency'>;
type Reader = Pick<Database, 'first' | 'all'>;

/** One statement per number of rows, prepared once. */
function bySize(build: (rows: number) => string): (rows: number) => Statement {
  const known = new Map<number, Statement>();
  return (rows) => {
    const made = known.get(rows) ?? statement(build(rows));
    known.set(rows, made);
    return made;
  };
}
const repeat = (rows: number, text: string, between: string) => Array(rows).fill(text).join(between);

const valuesOf = ({ user_id, game_id, kind, currency, provider }: AccountKey) => [
  user_id,
  game_id,
  kind,
  currency,
  provider,
];
/** SQLite would plan again for every value of `kind`, because it is in the condition of an index, but not for an expression. */
const NAMED = '(user_id = ? and game_id = ? and kind = cast(? as text) and currency = ? and provider = ?)';
const ACCOUNTS = bySize((rows) => `select * from ledger_accounts where ${repeat(rows, NAMED, ' or ')} order by id`);
const BY_IDS = bySize((rows) => `select * from ledger_accounts where id in (${repeat(rows, '?', ', ')}) order by id`);
const locked = new Map<Statement, Statement>();
function locking(read: Statement): Statement {
  const lock = locked.get(read) ?? withUpdateLock(read);
  locked.set(read, lock);
  return lock;
}

/** Locks accounts in the order of their ids, as every posting does. Accounts that do not exist are missing. */
export const lockAccounts = (transaction: Transaction, keys: readonly AccountKey[]) =>
  transaction.all<AccountRow>(locking(ACCOUNTS(keys.length)), keys.flatMap(valuesOf));

/** The same, for accounts whose ids are known. */
export const lockAccountsById = (transaction: Transaction, ids: readonly number[]) =>
  transaction.all<AccountRow>(locking(BY_IDS(ids.length)), ids);

export const accountsNamed = (reader: Reader, keys: readonly AccountKey[]) =>
  reader.all<AccountRow>(ACCOUNTS(keys.length), keys.flatMap(valuesOf));

const OPEN = statement(`insert into ledger_accounts
  (user_id, game_id, kind, currency, provider, balance, entries, date_added) values (?, ?, ?, ?, ?, 0, 0, ?)
  on conflict (user_id, game_id, kind, currency, provider) do nothing`);
export const openAccount = (transaction: Transaction, key: AccountKey, now: number) =>
  transaction.run(OPEN, [...valuesOf(key), now]);

const HEAD = statement('select sequence, hash from ledger_heads where game_id = ?');
const HEAD_LOCKED = withUpdateLock(HEAD);
const ADD_HEAD = statement(
  "insert into ledger_heads (game_id, sequence, hash) values (?, 0, '') on conflict (game_id) do nothing",
);
const MOVE_HEAD = statement('update ledger_heads set sequence = ?, hash = ? where game_id = ?');
export type Head = Omit<LedgerHeadsTable, 'game_id'>;

export async function lockHead(transaction: Transaction, gameId: number): Promise<Head> {
  const found = await transaction.first<Head>(HEAD_LOCKED, [gameId]);
  if (found) return found;
  await transaction.run(ADD_HEAD, [gameId]);
  return (await transaction.first<Head>(HEAD_LOCKED, [gameId]))!;
}

const COLUMNS = `game_id, sequence, kind, operation, request_key, provider, provider_reference, user_id, reverses_id,
  date_added, previous, hash`;
const ADD = statement(
  `insert into ledger_transactions (${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) returning id`,
);
const ADD_ENTRIES = bySize(
  (rows) => `insert into ledger_entries (transaction_id, account_id, amount, balance_after) values
    ${repeat(rows, '(?, ?, ?, ?)', ', ')}`,
);
const SET_BALANCES = bySize(
  (rows) => `update ledger_accounts set entries = entries + 1,
    balance = case id ${repeat(rows, 'when ? then ?', ' ')} end where id in (${repeat(rows, '?', ', ')})`,
);

/** On PostgreSQL one statement writes everything, and the id is reserved, so nothing waits for its result. */
const ADD_ALL = bySize(
  (rows) => `with added as (
      insert into ledger_transactions (id, ${COLUMNS}) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
      returning id, game_id, sequence, hash
    ), given (account_id, amount, balance_after) as (
      values ${repeat(rows, '(?::bigint, ?::bigint, ?::bigint)', ', ')}
    ), entered as (
      insert into ledger_entries (transaction_id, account_id, amount, balance_after)
      select added.id, given.account_id, given.amount, given.balance_after from added, given
      order by given.account_id
    ), balanced as (
      update ledger_accounts set balance = given.balance_after, entries = entries + 1
      from given where ledger_accounts.id = given.account_id
    ) update ledger_heads set sequence = added.sequence, hash = added.hash
      from added where ledger_heads.game_id = added.game_id`,
);

type NewEntry = Omit<EntryRow, 'id' | 'transaction_id'>;

/** `entries` are in the order of their accounts, and `id` is reserved on PostgreSQL. Returns the id of the transaction. */
export async function add(
  transaction: Transaction,
  id: number | null,
  row: NewTransaction,
  entries: readonly NewEntry[],
): Promise<number> {
  const values = [row.game_id, row.sequence, row.kind, row.operation, row.request_key, row.provider];
  values.push(row.provider_reference, row.user_id, row.reverses_id, row.date_added, row.previous, row.hash);
  if (id === null) return addInSteps(transaction, row, values, entries);
  const given = entries.flatMap((each) => [each.account_id, each.amount, each.balance_after]);
  await transaction.run(ADD_ALL(entries.length), [id, ...values, ...given]);
  return id;
}

async function addInSteps(
  transaction: Transaction,
  row: NewTransaction,
  values: readonly (string | number)[],
  entries: readonly NewEntry[],
): Promise<number> {
  const { id } = (await transaction.first<{ id: number }>(ADD, values))!;
  const rows = entries.flatMap((each) => [id, each.account_id, each.amount, each.balance_after]);
  await transaction.run(ADD_ENTRIES(entries.length), rows);
  const balances = entries.flatMap((each) => [each.account_id, each.balance_after]);
  await transaction.run(SET_BALANCES(entries.length), [...balances, ...entries.map((each) => each.account_id)]);
  await transaction.run(MOVE_HEAD, [row.sequence, row.hash, row.game_id]);
  return id;
}

const ENTRIES_OF = statement(`select a.kind, a.user_id, a.provider, a.game_id, a.currency, e.amount
  from ledger_entries e join ledger_accounts a on a.id = e.account_id where e.transaction_id = ? order by e.id`);
export const entriesOf = (reader: Reader, transactionId: number) =>
  reader.all<AccountKey & { amount: number }>(ENTRIES_OF, [transactionId]);

const OF_USER = statement('select * from ledger_accounts where user_id = ? order by id');
export const accountsOfUser = (reader: Reader, userId: number) => reader.all<AccountRow>(OF_USER, [userId]);

export const heads = (query: Query) => query.selectFrom('ledger_heads').selectAll().orderBy('game_id').execute();

/** The head as a check begins: postings behind it are not part of the check. */
export const transactionsAfter = (query: Query, gameId: number, sequence: number, upTo: number, most: number) =>
  query
    .selectFrom('ledger_transactions')
    .selectAll()
    .where('game_id', '=', gameId)
    .where('sequence', '>', sequence)
    .where('sequence', '<=', upTo)
    .orderBy('sequence')
    .limit(most)
    .execute();

const PUT_HASH = statement('update ledger_transactions set previous = ?, hash = ? where id = ?');
export const putHash = (transaction: Transaction, id: number, previous: string, hash: string) =>
  transaction.run(PUT_HASH, [previous, hash, id]);

const PUT_HEAD_HASH = statement('update ledger_heads set hash = ? where game_id = ?');
export const putHeadHash = (transaction: Transaction, gameId: number, hash: string) =>
  transaction.run(PUT_HEAD_HASH, [hash, gameId]);

export type NamedEntry = EntryRow & AccountKey;

export const entriesAmong = (query: Query, transactionIds: readonly number[]): Promise<NamedEntry[]> =>
  query
    .selectFrom('ledger_entries as e')
    .innerJoin('ledger_accounts as a', 'a.id', 'e.account_id')
    .select(['e.id', 'e.transaction_id', 'e.account_id', 'e.amount', 'e.balance_after'])
    .select(['a.kind', 'a.user_id', 'a.provider', 'a.game_id', 'a.currency'])
    .where('e.transaction_id', 'in', transactionIds)
    .orderBy('e.id')
    .execute();

export const accountsAfter = (query: Query, id: number, most: number) =>
  query.selectFrom('ledger_accounts').selectAll().where('id', '>', id).orderBy('id').limit(most).execute();

export const counts = async (query: Query) => ({
  transactions: await countOf(query, 'ledger_transactions'),
  entries: await countOf(query, 'ledger_entries'),
});

const countOf = async (query: Query, table: 'ledger_transactions' | 'ledger_entries'): Promise<number> =>
  Number(
    (
      await query
        .selectFrom(table)
        .select((eb) => eb.fn.countAll().as('rows'))
        .executeTakeFirstOrThrow()
    ).rows,
  );

export interface PostingFilter {
  readonly gameId?: number | undefined;
  readonly userId?: number | undefined;
  /** Unix seconds, inclusive and exclusive. */
  readonly from?: number | undefined;
  readonly until?: number | undefined;
}

/** Entries with their transactions and accounts, in the order in which they were made. */
export const postingsAfter = (query: Query, id: number, { gameId, userId, from, until }: PostingFilter, most: number) =>
  query
    .selectFrom('ledger_entries as e')
    .innerJoin('ledger_transactions as t', 't.id', 'e.transaction_id')
    .innerJoin('ledger_accounts as a', 'a.id', 'e.account_id')
    .select(['e.id', 'e.transaction_id', 't.date_added', 't.game_id', 't.kind as cause', 't.operation'])
    .select(['t.request_key', 't.provider', 't.provider_reference', 't.user_id as actor', 't.reverses_id'])
    .select(['e.account_id', 'a.kind', 'a.user_id', 'a.currency', 'e.amount', 'e.balance_after'])
    .where('e.id', '>', id)
    .$if(gameId !== undefined, (some) => some.where('t.game_id', '=', gameId!))
    .$if(userId !== undefined, (some) => some.where('a.user_id', '=', userId!))
    .$if(from !== undefined, (some) => some.where('t.date_added', '>=', from!))
    .$if(until !== undefined, (some) => some.where('t.date_added', '<', until!))
    .orderBy('e.id')
    .limit(most)
    .execute();

export type PostingRow = Awaited<ReturnType<typeof postingsAfter>>[number];

export interface TransactionFilter {
  readonly gameId?: number | undefined;
  readonly kinds?: readonly string[] | undefined;
}

const among = (query: Query, { gameId, kinds }: TransactionFilter) =>
  query
    .selectFrom('ledger_transactions')
    .$if(gameId !== undefined, (some) => some.where('game_id', '=', gameId!))
    .$if(kinds !== undefined, (some) => some.where('kind', 'in', kinds!));

export const newest = (query: Query, filter: TransactionFilter, { limit, offset }: { limit: number; offset: number }) =>
  among(query, filter)
    .selectAll()
    // Within a game both orders are the same, and the sequence has the index.
    .orderBy(filter.gameId !== undefined && filter.kinds === undefined ? 'sequence' : 'id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute();

/** Chains have no gaps, so their ends count them. */
export async function totalOf(query: Query, filter: TransactionFilter): Promise<number> {
  const { total } = filter.kinds
    ? await among(query, filter)
        .select((eb) => eb.fn.countAll().as('total'))
        .executeTakeFirstOrThrow()
    : await query
        .selectFrom('ledger_heads')
        .$if(filter.gameId !== undefined, (some) => some.where('game_id', '=', filter.gameId!))
        .select((eb) => eb.fn.sum('sequence').as('total'))
        .executeTakeFirstOrThrow();
  return Number(total ?? 0);
}

export type CheckRow = Selectable<LedgerChecksTable>;

export const addCheck = (query: Query, row: Omit<CheckRow, 'id'>): Promise<CheckRow> =>
  query.insertInto('ledger_checks').values(row).returningAll().executeTakeFirstOrThrow();

export const endCheck = (query: Query, id: number, result: Partial<CheckRow>) =>
  query.updateTable('ledger_checks').set(result).where('id', '=', id).execute();

export const checks = (query: Query, most: number): Promise<CheckRow[]> =>
  query.selectFrom('ledger_checks').selectAll().orderBy('id', 'desc').limit(most).execute();

export const forgetChecksBefore = (query: Query, id: number) =>
  query.deleteFrom('ledger_checks').where('id', '<=', id).execute();
