import { sql } from 'kysely';
import type { Database } from './database.ts';
import { factOf, rememberFact } from './facts.ts';
import { type Migration, pendingMigrations, stepsOfBackfill } from './migrate.ts';

/** How far the backfill of a migration is. */
export interface Backfill {
  readonly name: string;
  readonly rows: number;
  readonly done: boolean;
}

const factNamed = (name: string) => `backfill.${name}`;

export async function backfills(db: Database, migrations: readonly Migration[]): Promise<Backfill[]> {
  const found: Backfill[] = [];
  for (const migration of migrations) {
    if (!migration.backfill) continue;
    const text = await factOf(db.query, factNamed(migration.name));
    found.push({ name: migration.name, rows: 0, done: false, ...(text && JSON.parse(text)) });
  }
  return found;
}

/**
 * Runs what is left, in small transactions. Each stores its progress, so that an interrupted backfill goes on where it was,
 * and `report` may throw to interrupt it.
 */
export async function backfill(
  db: Database,
  migrations: readonly Migration[],
  report: (state: Backfill) => void | Promise<void> = () => {},
): Promise<void> {
  for (const state of await backfills(db, migrations)) {
    if (state.done) continue;
    const migration = migrations.find(({ name }) => name === state.name)!;
    let { rows } = state;
    const steps = stepsOfBackfill(migration, db.dialect);
    for (const [index, step] of steps.entries())
      for (let changed = 1; changed > 0; ) {
        changed = await db.write(async ({ query }) => {
          const { numAffectedRows = 0n } = await sql.raw(step).execute(query);
          const done = numAffectedRows === 0n && index === steps.length - 1;
          const next = { rows: rows + Number(numAffectedRows), done };
          await rememberFact(query, factNamed(migration.name), JSON.stringify(next));
          return Number(numAffectedRows);
        });
        rows += changed;
        await report({ name: migration.name, rows, done: false });
      }
    await report({ name: migration.name, rows, done: true });
  }
}

export async function migrationStatus(db: Database, migrations: readonly Migration[]) {
  const pending = (await pendingMigrations(db, migrations)).map(({ name }) => name);
  const isNew = pending.length === migrations.length;
  return {
    applied: migrations.length - pending.length,
    pending,
    backfills: isNew ? [] : await backfills(db, migrations),
  };
}
