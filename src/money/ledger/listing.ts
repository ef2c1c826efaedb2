import { requireGame } from '../../catalogue/games/games.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import type { UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export interface ListedTransaction {
  readonly row: store.TransactionRow;
  readonly entries: readonly store.NamedEntry[];
}

type Page = { readonly limit: number; readonly offset: number };
type Listed = Promise<{ transactions: ListedTransaction[]; total: number }>;

/** What was written to the books of a game, the newest first. */
export async function listGameTransactions(
  app: App,
  caller: UserCaller,
  gameId: number,
  kinds: readonly string[] | undefined,
  page: Page,
): Listed {
  await requireGame(app.db, caller, gameId);
  if ((await teamLevel(app.db, caller, 'games', gameId)) < ADMINISTRATOR)
    throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  return listed(app, { gameId, kinds }, page);
}

/** The same for all games, or one. */
export async function listAllTransactions(
  app: App,
  { admin }: UserCaller,
  filter: store.TransactionFilter,
  page: Page,
): Listed {
  if (!admin) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
  return listed(app, filter, page);
}

async function listed(app: App, filter: store.TransactionFilter, page: Page): Listed {
  const rows = await store.newest(app.db.query, filter, page);
  const ids = rows.map(({ id }) => id);
  const entries = ids.length === 0 ? [] : await store.entriesAmong(app.db.query, ids);
  const byTransaction = Map.groupBy(entries, ({ transaction_id }) => transaction_id);
  const transactions = rows.map((row) => ({ row, entries: byTransaction.get(row.id) ?? [] }));
  return { transactions, total: await store.totalOf(app.db.query, filter) };
}
