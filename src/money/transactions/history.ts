import { findUser } from '../../people/users/users.ts';
import type { ServiceCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { entriesOf } from '../ledger/ledger.ts';
import * as store from './store.ts';
import { isExpired } from './transactions.ts';

export type { NamedTransaction } from './store.ts';

/** The states of a transaction in the words of the API. */
export type TransactionType = 'CANCELLED' | 'CLEARED' | 'FAILED' | 'PAID' | 'PENDING' | 'REFUNDED';

const TYPES = {
  pending: 'PENDING',
  paid: 'PAID',
  refunded: 'REFUNDED',
  cancelled: 'CANCELLED',
  failed: 'FAILED',
} as const;

/** A paid transaction is cleared once its hold is over. */
export function typeOf(app: App, row: store.TransactionRow): TransactionType {
  if (isExpired(app, row)) return 'FAILED';
  return row.status === 'paid' && row.date_clears <= app.clock.now() ? 'CLEARED' : TYPES[row.status];
}

const isCleared = (type: TransactionType): boolean | undefined =>
  type === 'CLEARED' ? true : type === 'PAID' ? false : undefined;

function statusOf(type: TransactionType): store.TransactionRow['status'] {
  if (type === 'CLEARED') return 'paid';
  return (Object.keys(TYPES) as store.TransactionRow['status'][]).find((status) => TYPES[status] === type)!;
}

export interface Asked extends Omit<store.TransactionFilter, 'status' | 'cleared'> {
  readonly type: TransactionType | undefined;
  readonly cursor: PageCursor | undefined;
  readonly limit: number;
}

/** A place in the list, and the number of the page that begins there. */
export interface PageCursor extends store.Cursor {
  readonly page: number;
}

export interface TransactionPage {
  readonly rows: readonly store.NamedTransaction[];
  readonly page: number;
  readonly next: PageCursor | undefined;
  readonly previous: PageCursor | undefined;
}

/** A game that sells has one team, which has the id of the game. A backend sees that of its own game. */
function requireOwnTeam({ gameId }: ServiceCaller, teamId: number): void {
  if (teamId !== gameId) throw new ApiError('MONETIZATION_TEAM_NOT_FOUND');
}

/** The sales that backends reported, the newest first. */
export async function listTransactions(
  app: App,
  caller: ServiceCaller,
  teamId: number,
  { type, cursor, limit, ...filter }: Asked,
): Promise<TransactionPage> {
  requireOwnTeam(caller, teamId);
  const is = type && isCleared(type);
  const cleared = is === undefined ? undefined : { now: app.clock.now(), is };
  const wanted = { ...filter, status: type && statusOf(type), cleared };
  const found = await store.page(app.db.query, teamId, wanted, cursor, limit + 1);
  const isBack = cursor?.direction === 'before';
  const hasMore = found.length > limit;
  const rows = isBack ? found.slice(-limit) : found.slice(0, limit);
  const page = cursor?.page ?? 1;
  const [first, last] = [rows[0], rows.at(-1)];
  const hasNext = last !== undefined && (isBack || hasMore);
  const hasPrevious = first !== undefined && (isBack ? hasMore : cursor !== undefined);
  return {
    rows,
    page,
    next: hasNext ? { id: last.id, direction: 'after', page: page + 1 } : undefined,
    previous: hasPrevious ? { id: first.id, direction: 'before', page: Math.max(1, page - 1) } : undefined,
  };
}

/** What each party gets of the mod that the tokens bought, in tokens. */
export interface Breakdown {
  readonly platform: number;
  readonly studio: number;
  readonly sellers: readonly { readonly id: number; readonly name: string; readonly amount: number }[];
}

export interface Attempt {
  readonly row: store.NamedTransaction;
  readonly breakdown: Breakdown;
}

/** A transaction, and all attempts at the same sale. */
export async function showTransaction(
  app: App,
  caller: ServiceCaller,
  teamId: number,
  id: number,
): Promise<{ row: store.NamedTransaction; attempts: Attempt[] }> {
  requireOwnTeam(caller, teamId);
  const found = await store.byId(app.db, id);
  if (found?.game_id !== teamId) throw new ApiError('RESOURCE_NOT_FOUND');
  const rows = await store.ofGateway(app.db.query, teamId, found.gateway_uuid);
  const attempts: Attempt[] = [];
  for (const row of rows) attempts.push({ row, breakdown: await breakdownOf(app, row) });
  return { row: rows.find((each) => each.id === id)!, attempts };
}

async function breakdownOf(app: App, row: store.NamedTransaction): Promise<Breakdown> {
  if (!row.sale_id) return { platform: 0, studio: 0, sellers: [] };
  const entries = await entriesOf(app.db, row.sale_id);
  const sumOf = (kind: string) =>
    entries.filter(({ account }) => account.kind === kind).reduce((sum, { amount }) => sum + amount, 0);
  const sellers = [];
  for (const { account, amount } of entries.filter(({ account: { kind } }) => kind === 'pending_earnings'))
    sellers.push({ id: account.userId, name: (await findUser(app, account.userId))?.username ?? '', amount });
  return { platform: sumOf('platform_fee'), studio: sumOf('studio_share'), sellers };
}

export const namedTransaction = store.byName;
