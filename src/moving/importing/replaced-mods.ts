import { sql } from 'kysely';
import type { ModRow } from '../../catalogue/mods/mods.ts';
import { updateWords } from '../../catalogue/mods/words.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { Schema } from '../tables/schema.ts';
import { isMoved } from '../tables/treatment.ts';
import { treatmentOf } from '../tables/treatments.ts';
import type { Row } from './rows.ts';

/** The mods as they are before an update. */
export const modsBefore = async ({ query }: Transaction, rows: readonly Row[]): Promise<ModRow[]> =>
  rows.length === 0
    ? []
    : query
        .selectFrom('mods')
        .selectAll()
        .where(
          'id',
          'in',
          rows.map((row) => row['id'] as number),
        )
        .execute();

/** An archive that names a mod contains all of its tags, media, metadata and dependencies. */
export async function replaceMods(
  schema: Schema,
  transaction: Transaction,
  before: readonly ModRow[],
  after: readonly Row[],
) {
  if (before.length === 0) return;
  const ids = before.map(({ id }) => id);
  for (const { name } of schema.values()) {
    const treatment = treatmentOf(name);
    if (!treatment || !isMoved(treatment) || !treatment.ofMod) continue;
    await sql`delete from ${sql.table(name)} where mod_id in (${sql.join(ids)})`.execute(transaction.query);
  }
  const rows = new Map(after.map((row) => [row['id'], row as unknown as ModRow]));
  for (const mod of before) await updateWords(transaction, mod, rows.get(mod.id)!);
}
