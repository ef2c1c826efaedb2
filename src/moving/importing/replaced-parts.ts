import { sql } from 'kysely';
import type { ModRow } from '../../catalogue/mods/mods.ts';
import { updateWords } from '../../catalogue/mods/words.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { isMoved } from '../../platform/manifest/treatment.ts';
import { keptAmong } from '../../records/imports/store.ts';
import type { Schema } from '../tables/schema.ts';
import { treatmentOf } from '../tables/treatments.ts';
import type { Row } from './rows.ts';

const COLUMNS = { mods: 'mod_id', guides: 'guide_id', collections: 'collection_id' } as const;

const partOf = (kind: string) => {
  const treatment = treatmentOf(kind);
  return treatment && isMoved(treatment) ? treatment.partOf : undefined;
};

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

/** An archive that names a mod contains all of its tags, media, metadata and dependencies; likewise of others. */
export async function replaceParts(schema: Schema, transaction: Transaction, whole: string, updated: readonly Row[]) {
  if (updated.length === 0 || !(whole in COLUMNS)) return;
  const ids = updated.map((row) => row['id']);
  const column = sql.ref(COLUMNS[whole as keyof typeof COLUMNS]);
  for (const { name } of schema.values())
    if (partOf(name) === whole)
      await sql`delete from ${sql.table(name)} where ${column} in (${sql.join(ids)})`.execute(transaction.query);
}

export async function replaceWords(transaction: Transaction, before: readonly ModRow[], after: readonly Row[]) {
  const rows = new Map(after.map((row) => [row['id'], row as unknown as ModRow]));
  for (const mod of before) await updateWords(transaction, mod, rows.get(mod.id)!);
}

/** What the archive has of a mod and an import updates without the mod's line. */
const WITH_MOD: readonly string[] = ['mod_stats', 'mod_live_files'];

/** The rows of mods, guides and collections that stay as they are because they were changed here. */
export async function partsOfKept(
  { query }: Transaction,
  importId: number,
  kind: string,
  rows: readonly Row[],
): Promise<Set<Row>> {
  const whole = partOf(kind) ?? (WITH_MOD.includes(kind) ? 'mods' : undefined);
  if (!whole) return new Set();
  const column = COLUMNS[whole];
  const kept = await keptAmong(query, importId, whole, [...new Set(rows.map((row) => row[column] as number))]);
  return new Set(rows.filter((row) => kept.has(row[column] as number)));
}
