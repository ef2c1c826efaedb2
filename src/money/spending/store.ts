import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import { removeInSteps, someOf } from '../../platform/database/removal.ts';
import type { ClawbacksTable, PaymentAttemptsTable, SpendingRefusalsTable, SpendingTable } from './table.ts';

type Reader = Pick<Database, 'first'>;

const ADD = statement(`insert into spending (purchase_id, user_id, game_id, address, tokens, date_added)
  values (?, ?, ?, ?, ?, ?)`);
export const add = (transaction: Transaction, row: SpendingTable) =>
  transaction.run(ADD, [row.purchase_id, row.user_id, row.game_id, row.address, row.tokens, row.date_added]);

export interface Spent {
  readonly purchases: number;
  readonly tokens: number;
}

const SUMS = 'select count(*) as purchases, coalesce(sum(tokens), 0) as tokens from spending';
const BY_USER = statement(`${SUMS} where user_id = ? and game_id = ? and date_added > ?`);
const BY_ADDRESS = statement(`${SUMS} where game_id = ? and address = ? and date_added > ?`);
const BY_GAME = statement(`${SUMS} where game_id = ? and date_added > ?`);

const spent = async (reader: Reader, query: typeof BY_GAME, values: readonly (string | number)[]): Promise<Spent> => {
  const { purchases, tokens } = (await reader.first<Spent>(query, [...values]))!;
  return { purchases: Number(purchases), tokens: Number(tokens) };
};

export const spentByUser = (reader: Reader, userId: number, gameId: number, since: number) =>
  spent(reader, BY_USER, [userId, gameId, since]);
export const spentFrom = (reader: Reader, gameId: number, address: string, since: number) =>
  spent(reader, BY_ADDRESS, [gameId, address, since]);
export const spentInGame = (reader: Reader, gameId: number, since: number) => spent(reader, BY_GAME, [gameId, since]);

const ATTEMPT = statement(`insert into payment_attempts (payment_id, user_id, game_id, address, date_added)
  values (?, ?, ?, ?, ?)`);
export const addAttempt = (transaction: Transaction, row: PaymentAttemptsTable) =>
  transaction.run(ATTEMPT, [row.payment_id, row.user_id, row.game_id, row.address, row.date_added]);

const count = async (reader: Reader, query: typeof BY_GAME, values: readonly (string | number)[]): Promise<number> =>
  Number((await reader.first<{ found: number }>(query, [...values]))!.found);

const ATTEMPTS = statement(
  'select count(*) as found from payment_attempts where game_id = ? and address = ? and date_added > ?',
);
export const attemptsFrom = (reader: Reader, gameId: number, address: string, since: number) =>
  count(reader, ATTEMPTS, [gameId, address, since]);

const PAYMENTS = statement(`select count(*) as found from payments
  where user_id = ? and game_id = ? and date_added > ? and status <> 'failed'`);
export const paymentsOf = (reader: Reader, userId: number, gameId: number, since: number) =>
  count(reader, PAYMENTS, [userId, gameId, since]);

const SIGNED_IN = statement('select date_added from access_tokens where id = ?');
export const dateOfSignIn = async (reader: Reader, tokenId: number): Promise<number | undefined> =>
  (await reader.first<{ date_added: number }>(SIGNED_IN, [tokenId]))?.date_added;

// Refunded purchases count as well: the tokens went in a circle all the same.
const BOUGHT_FROM = statement(`select 1 as bought from purchases p join mods m on m.id = p.mod_id
  where p.user_id = ? and p.game_id = ? and p.date_added > ? and m.submitted_by = ? limit 1`);
export const hasBoughtFrom = async (
  reader: Reader,
  { buyer, seller, gameId, since }: { buyer: number; seller: number; gameId: number; since: number },
): Promise<boolean> => (await reader.first(BOUGHT_FROM, [buyer, gameId, since, seller])) !== undefined;

const REFUSED = statement(`insert into spending_refusals (user_id, game_id, guard, date_hour) values (?, ?, ?, ?)
  on conflict (user_id, game_id, guard, date_hour) do nothing returning guard`);
/** False if the log has such a refusal of this hour. */
export const addRefusal = async (transaction: Transaction, row: SpendingRefusalsTable): Promise<boolean> =>
  (await transaction.first(REFUSED, [row.user_id, row.game_id, row.guard, row.date_hour])) !== undefined;

const CLAW_BACK = statement(`insert into clawbacks (transaction_id, user_id, game_id, tokens, date_added)
  values (?, ?, ?, ?, ?)`);
export const addClawback = (transaction: Transaction, row: ClawbacksTable) =>
  transaction.run(CLAW_BACK, [row.transaction_id, row.user_id, row.game_id, row.tokens, row.date_added]);

const CLAWED_BACK = statement(
  'select count(*) as found from clawbacks where user_id = ? and game_id = ? and date_added > ?',
);
const CLAWED_BACK_IN_GAME = statement('select count(*) as found from clawbacks where game_id = ? and date_added > ?');
export const clawbacksOfUser = (reader: Reader, userId: number, gameId: number, since: number) =>
  count(reader, CLAWED_BACK, [userId, gameId, since]);
export const clawbacksInGame = (reader: Reader, gameId: number, since: number) =>
  count(reader, CLAWED_BACK_IN_GAME, [gameId, since]);

const OUTDATED = [
  someOf('spending', ['purchase_id'], 'date_added <= ?'),
  someOf('payment_attempts', ['payment_id'], 'date_added <= ?'),
  someOf('spending_refusals', ['user_id', 'game_id', 'guard', 'date_hour'], 'date_hour <= ?'),
  someOf('clawbacks', ['transaction_id'], 'date_added <= ?'),
];
export async function forget(db: Database, until: number): Promise<void> {
  for (const some of OUTDATED) await removeInSteps(db, some, [until]);
}
