import { invalidateMod } from '../../catalogue/mods/documents.ts';
import { completeStats } from '../../catalogue/mods/import-store.ts';
import { lockCounts } from '../../catalogue/mods/stats-store.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Row } from './rows.ts';

/** Counts that the source alone knows. Ranks and the downloads of a day are computed here every hour. */
const COMPARED = ['downloads_total', 'subscribers_total', 'ratings_positive', 'ratings_negative'] as const;

const modsOf = (rows: readonly Row[]) => rows.map((row) => row['mod_id'] as number);

/** The rows whose counts differ from those here, because a nightly run brings the stats of every mod. */
export async function changedStats(transaction: Transaction, rows: readonly Row[]): Promise<Row[]> {
  const here = new Map((await lockCounts(transaction, modsOf(rows))).map((counts) => [counts.mod_id, counts]));
  return rows.filter((row) => {
    const counts = here.get(row['mod_id'] as number);
    return !counts || COMPARED.some((name) => counts[name] !== row[name]);
  });
}

/** Pages of mods contain stats as stored text, which therefore changes in the transaction of the row. */
export async function showStats(transaction: Transaction, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = modsOf(rows);
  await completeStats(transaction, ids);
  const mods = await transaction.query.selectFrom('mods').select(['id', 'game_id']).where('id', 'in', ids).execute();
  for (const { id, game_id } of mods) invalidateMod(transaction, game_id, id);
}
