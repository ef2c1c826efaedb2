import { requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { ACCOUNT_KINDS, type AccountKind } from '../ledger/accounts.ts';
import type { Posting } from '../ledger/ledger.ts';
import { type Period, type PeriodQuery, periodOf } from './periods.ts';
import * as store from './store.ts';

export type { PeriodQuery } from './periods.ts';

type Column = 'sales' | 'refunds' | 'clawbacks' | 'clearing' | 'payouts' | 'transfers';

/** Where a statement counts each kind of transaction. */
const COLUMN_OF: Readonly<Record<Posting['kind'], Column>> = {
  pack_sale: 'sales',
  store_sale: 'sales',
  purchase: 'sales',
  pack_refund: 'refunds',
  purchase_refund: 'refunds',
  chargeback: 'clawbacks',
  clawback: 'clawbacks',
  store_reversal: 'clawbacks',
  clearing: 'clearing',
  payout: 'payouts',
  payout_paid: 'payouts',
  payout_return: 'payouts',
  merge: 'transfers',
};

type Movements = Record<Column, number>;
const nothing = (): Movements => ({ sales: 0, refunds: 0, clawbacks: 0, clearing: 0, payouts: 0, transfers: 0 });

/** Opening balance + movements = closing balance. Credits are positive, as in the books. */
export interface AccountStatement extends Movements {
  readonly account: AccountKind;
  readonly provider: string;
  readonly currency: string;
  readonly says: string;
  readonly opening: number;
  readonly closing: number;
}

export interface GameStatement extends Period {
  readonly gameId: number;
  readonly accounts: readonly AccountStatement[];
}

/** What a seller is owed in a game: pending tokens, or money. Opening balance + movements = closing balance. */
export interface SellerStatement extends Movements, Period {
  readonly userId: number;
  readonly gameId: number;
  readonly currency: string;
  readonly opening: number;
  readonly taxes: number;
  readonly fees: number;
  readonly closing: number;
  /** Payouts that had neither arrived nor failed at the end. */
  readonly inTransit: number;
}

type Page = { readonly limit: number; readonly offset: number };

const isCause = (cause: string): cause is Posting['kind'] => Object.hasOwn(COLUMN_OF, cause);
const total = (movements: Movements) => Object.values(movements).reduce((sum, each) => sum + each, 0);

/** The movements of some rows, and the balances around them. */
function balanced(rows: readonly store.MovedRow[]): Movements & { opening: number; closing: number } {
  const moved = nothing();
  let closing = 0;
  for (const { cause, amount } of rows) {
    if (isCause(cause)) moved[COLUMN_OF[cause]] += amount;
    else closing += cause === 'later' ? -amount : amount;
  }
  return { ...moved, opening: closing - total(moved), closing };
}

const hasFigures = (figures: object) => Object.values(figures).some((each) => typeof each === 'number' && each !== 0);

function accountStatements(rows: readonly store.MovedRow[]): AccountStatement[] {
  const byAccount = Map.groupBy(rows, ({ kind, currency, provider }) => `${kind} ${currency} ${provider}`);
  return [...byAccount.values()]
    .map((own) => {
      const { kind, currency, provider } = own[0]!;
      const account = kind as AccountKind;
      return { account, provider, currency, says: ACCOUNT_KINDS[account].says, ...balanced(own) };
    })
    .filter(hasFigures);
}

const MONEY_KINDS = new Set(['earnings', 'earnings_deficit']);
const sum = (rows: readonly store.MovedRow[]) => rows.reduce((all, { amount }) => all + amount, 0);

/** The pending tokens of a seller, or their money; `rows` are of one game and currency. */
function sellerStatement(rows: readonly store.MovedRow[], period: Period): SellerStatement {
  const { user_id: userId, game_id: gameId, currency } = rows[0]!;
  const of = (...kinds: string[]) => rows.filter(({ kind }) => kinds.includes(kind));
  const figures = balanced(rows.filter(({ kind }) => kind === 'pending_earnings' || MONEY_KINDS.has(kind)));
  const [returned, withheld] = [
    sum(of('withheld_tax').filter(({ cause }) => cause === store.TAX_RETURNED)),
    sum(of('withheld_tax').filter(({ cause }) => cause !== store.TAX_RETURNED)),
  ];
  const fees = sum(of('payout_fees'));
  return {
    userId,
    gameId,
    currency,
    ...period,
    ...figures,
    // The entries of the seller are what is left after taxes and fees; a statement shows both.
    refunds: figures.refunds - returned,
    clearing: figures.clearing + withheld,
    payouts: figures.payouts + fees,
    taxes: returned - withheld,
    fees: -fees,
    inTransit: balanced(of('payouts_in_transit')).closing,
  };
}

function sellerStatements(rows: readonly store.MovedRow[], period: Period): SellerStatement[] {
  const byBalance = Map.groupBy(rows, ({ user_id, game_id, currency }) => `${user_id} ${game_id} ${currency}`);
  return [...byBalance.values()]
    .map((own) => sellerStatement(own, period))
    .filter(({ userId, gameId, from, until, ...figures }) => hasFigures(figures));
}

/** What the caller earned, in all games or one. */
export async function ownStatements(
  app: App,
  { userId }: UserCaller,
  gameId: number | undefined,
  query: PeriodQuery,
): Promise<SellerStatement[]> {
  const period = periodOf(query, app.clock.now());
  return sellerStatements(
    await store.movedOfSellers(app.db.withLongTimeouts.readInWorker, [userId], gameId, period),
    period,
  );
}

export async function requireFinance(app: App, caller: UserCaller, gameId: number): Promise<void> {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_UPDATE_PERMISSION');
}

/** Every account of a game; the wallets of all players are one line, and so are the earnings of all sellers. */
export async function gameStatement(
  app: App,
  caller: UserCaller,
  gameId: number,
  query: PeriodQuery,
): Promise<GameStatement> {
  await requireFinance(app, caller, gameId);
  const period = periodOf(query, app.clock.now());
  const [statement] = await statementsOf(app, [gameId], period);
  return statement ?? { gameId, ...period, accounts: [] };
}

async function statementsOf(app: App, gameIds: readonly number[], period: Period): Promise<GameStatement[]> {
  if (gameIds.length === 0) return [];
  const rows = await store.movedInGames(app.db.withLongTimeouts.readInWorker, gameIds, period);
  const byGame = Map.groupBy(rows, ({ game_id }) => game_id);
  return gameIds.map((gameId) => ({ gameId, ...period, accounts: accountStatements(byGame.get(gameId) ?? []) }));
}

/** The sellers of a game, a page of them at a time. */
export async function gameSellerStatements(
  app: App,
  caller: UserCaller,
  gameId: number,
  query: PeriodQuery,
  page: Page,
): Promise<{ statements: SellerStatement[]; total: number }> {
  await requireFinance(app, caller, gameId);
  const period = periodOf(query, app.clock.now());
  const { userIds, total } = await store.sellersOf(app.db.withLongTimeouts.readInWorker, gameId, page);
  const rows =
    userIds.length === 0
      ? []
      : await store.movedOfSellers(app.db.withLongTimeouts.readInWorker, userIds, gameId, period);
  return { statements: sellerStatements(rows, period), total };
}

/** The books of all games of the site, a page of games at a time. */
export async function siteStatements(
  app: App,
  { admin }: UserCaller,
  query: PeriodQuery,
  page: Page,
): Promise<{ statements: GameStatement[]; total: number }> {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  const period = periodOf(query, app.clock.now());
  const { gameIds, total } = await store.gamesWithBooks(app.db.query, page);
  return { statements: await statementsOf(app, gameIds, period), total };
}

const AT_ONCE = 100;

/** All pages of a list, for an export. */
export async function allOf<T>(pageOf: (page: Page) => Promise<{ statements: T[]; total: number }>): Promise<T[]> {
  const all: T[] = [];
  for (let offset = 0; ; offset += AT_ONCE) {
    const { statements, total } = await pageOf({ limit: AT_ONCE, offset });
    all.push(...statements);
    if (offset + AT_ONCE >= total) return all;
  }
}
