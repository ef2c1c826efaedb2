import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { migrations } from '../src/composition/migrations.ts';
import { migrate, statementsOf } from '../src/platform/database/migrate.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { openSqlite } from '../src/platform/database/sqlite.ts';
import {
  createDatabase,
  createTablespace,
  dropDatabase,
  dropTablespace,
  type PostgresServer,
  startPostgres,
} from './postgres.ts';

export interface TemporaryDatabases {
  readonly settings: Record<string, string>;
  drop(): Promise<void>;
}

/**
 * Databases of both environments for a service with this data folder, on the database of the run; migrated unless
 * `empty`. PostgreSQL stores them in its own folder, unless production must be on the disk of the data folder.
 */
export async function temporaryDatabases(
  folder: string,
  { empty = false, onItsDisk = false } = {},
): Promise<TemporaryDatabases> {
  if (process.env['MODSTEAD_TEST_DATABASE'] !== 'postgres') {
    if (!empty) await copyTables(folder);
    return { settings: {}, drop: async () => {} };
  }
  const server = await startPostgres();
  const template = empty ? undefined : await requireTemplate(server);
  const name = `modstead_${randomBytes(6).toString('hex')}`;
  const names = [name, `${name}_sandbox`];
  // Beside the folder, because PostgreSQL runs as another user, which cannot enter the service's data folder.
  if (onItsDisk) await createTablespace(server.url, name, join(dirname(folder), 'postgres'));
  const [production, sandbox] = await Promise.all(
    names.map((each) => createDatabase(server.url, each, template, onItsDisk && each === name ? name : undefined)),
  );
  return {
    settings: { MODSTEAD_DATABASE_URL: production!, MODSTEAD_SANDBOX_DATABASE_URL: sandbox! },
    drop: async () => {
      for (const each of names) await dropDatabase(server.url, each);
      if (onItsDisk) await dropTablespace(server.url, name);
      await server.stop();
    },
  };
}

/** A new folder that is removed at the latest when the run ends. */
export const temporaryFolder = (name: string): string => mkdtempSync(join(folderOfRun(), `modstead-${name}-`));

let ownFolder: string | undefined;

/** The runner creates one for all files; a file that runs without the runner creates its own. */
function folderOfRun(): string {
  const folder = process.env['MODSTEAD_TEST_FOLDER'] ?? ownFolder;
  if (folder) return folder;
  const made = mkdtempSync(join(tmpdir(), 'modstead-tests-'));
  process.once('exit', () => rmSync(made, { recursive: true, force: true }));
  ownFolder = made;
  return made;
}

const DATABASE = 'modstead.sqlite';
async function copyTables(folder: string): Promise<void> {
  const template = join(folderOfRun(), DATABASE);
  if (!existsSync(template)) await makeTables(template);
  for (const environment of ['production', 'sandbox'] as const) {
    const place = join(folder, environment);
    mkdirSync(place, { recursive: true });
    copyFileSync(template, join(place, DATABASE));
  }
}

/** Files that start together each create a complete template, and the last one replaces the others. */
async function makeTables(template: string): Promise<void> {
  const unfinished = `${template}-${randomBytes(6).toString('hex')}`;
  const db = openSqlite(unfinished);
  await migrate(db, migrations, () => 0);
  await db.close();
  renameSync(unfinished, template);
}

/** Migrating once and copying the files is ten times faster than migrating for each test file. */
async function requireTemplate(server: PostgresServer): Promise<string> {
  const template = `template_${createHash('sha256')
    .update(migrations.flatMap((each) => [each.name, ...statementsOf(each, 'postgres')]).join())
    .digest('hex')
    .slice(0, 16)}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(4711)');
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 0) await makeTemplate(server, template);
    return template;
  } finally {
    await client.end();
  }
}

async function makeTemplate(server: PostgresServer, name: string): Promise<void> {
  const db = await openPostgres(await createDatabase(server.url, name), { connectionsMax: 1 });
  await migrate(db, migrations, () => 0);
  await db.close();
}
