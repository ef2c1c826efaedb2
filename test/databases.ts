import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import type { Database } from '../src/platform/database/database.ts';
import { type Migration, migrate } from '../src/platform/database/migrate.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { openSqlite } from '../src/platform/database/sqlite.ts';
import { createDatabase, dropDatabase, startPostgres } from './postgres.ts';
import { temporaryFolder } from './temporary.ts';

export interface TestDatabase {
  readonly db: Database;
  /** Opens the same database again, as another process would. */
  again(): Promise<Database>;
  /** The URL, on PostgreSQL. */
  readonly url: string | undefined;
}

/** A test on the database of MODSTEAD_TEST_DATABASE. The runner runs files that import this on each database. */
export function eachDatabase(
  name: string,
  migrations: readonly Migration[],
  run: (database: TestDatabase, t: TestContext) => Promise<void>,
): void {
  test(name, async (t) => run(await testDatabase(t, migrations), t));
}

/** A new database that is removed after the test. */
export async function testDatabase(t: TestContext, migrations: readonly Migration[]): Promise<TestDatabase> {
  const { open, remove, url } = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres' ? await onPostgres() : onSqlite();
  const opened: Database[] = [];
  t.after(async () => {
    // While they are mocked, closing would leave the real timers of the database running.
    t.mock.timers.reset();
    for (const db of opened) await db.close();
    await remove();
  });
  const again = async () => {
    const db = await open();
    opened.push(db);
    return db;
  };
  const db = await again();
  await migrate(db, migrations, () => 0);
  return { db, again, url };
}

interface Place {
  readonly url: string | undefined;
  open(): Database | Promise<Database>;
  remove(): void | Promise<void>;
}

function onSqlite(): Place {
  const folder = temporaryFolder('database');
  return {
    url: undefined,
    open: () => openSqlite(join(folder, 'modstead.sqlite')),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

let server: ReturnType<typeof startPostgres> | undefined;

async function onPostgres(): Promise<Place> {
  server ??= startPostgres();
  const { url } = await server;
  const name = `modstead_test_${randomBytes(8).toString('hex')}`;
  const databaseUrl = await createDatabase(url, name);
  return { url: databaseUrl, open: () => openPostgres(databaseUrl), remove: () => dropDatabase(url, name) };
}
