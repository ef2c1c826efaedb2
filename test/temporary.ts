import { createHash, randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { migrations } from '../src/composition/migrations.ts';
import type { Database } from '../src/platform/database/database.ts';
import { migrate, statementsOf } from '../src/platform/database/migrate.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { openSqlite } from '../src/platform/database/sqlite.ts';
import { localCertificate } from '../src/platform/http/certificate.ts';
import { schedule } from '../src/platform/jobs/store.ts';
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

export interface DatabaseOptions {
  /** Without tables, and with nothing in the data folder. */
  readonly empty?: boolean;
  /** PostgreSQL stores production on the disk of the data folder instead of in its own folder. */
  readonly onItsDisk?: boolean;
  /** All scheduled jobs have run at this time, as they do when a service starts, and each is due after its interval. */
  readonly scheduledAt?: number;
}

/** Databases of both environments for a service with this data folder, on the database of the run. */
export async function temporaryDatabases(
  folder: string,
  { empty = false, onItsDisk = false, scheduledAt }: DatabaseOptions = {},
): Promise<TemporaryDatabases> {
  if (!empty) await copyCertificate(folder);
  if (process.env['MODSTEAD_TEST_DATABASE'] !== 'postgres') {
    if (!empty) await copyTables(folder, scheduledAt);
    return { settings: {}, drop: async () => {} };
  }
  const server = await startPostgres();
  const template = empty ? undefined : await requireTemplate(server, scheduledAt);
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

/** Otherwise every service of a run would create an authority and a certificate. */
async function copyCertificate(folder: string): Promise<void> {
  const template = join(folderOfRun(), 'tls');
  await localCertificate(template, 'localhost');
  mkdirSync(join(folder, 'tls'), { recursive: true, mode: 0o700 });
  for (const name of ['local-certificate-1.json', 'local-ca.pem'])
    copyFileSync(join(template, name), join(folder, 'tls', name));
}

const DATABASE = 'modstead.sqlite';

async function copyTables(folder: string, scheduledAt: number | undefined): Promise<void> {
  const template = join(folderOfRun(), `${scheduledAt ?? 'unscheduled'}-${DATABASE}`);
  if (!existsSync(template)) await makeTables(template, scheduledAt);
  for (const environment of ['production', 'sandbox'] as const) {
    const place = join(folder, environment);
    mkdirSync(place, { recursive: true });
    copyFileSync(template, join(place, DATABASE));
  }
}

/** Files that start together each create a complete template, and the last one replaces the others. */
async function makeTables(template: string, scheduledAt: number | undefined): Promise<void> {
  const unfinished = `${template}-${randomBytes(6).toString('hex')}`;
  await fill(openSqlite(unfinished), scheduledAt);
  renameSync(unfinished, template);
}

/** Migrating once and copying the files is ten times faster than migrating for each test file. */
async function requireTemplate(server: PostgresServer, scheduledAt: number | undefined): Promise<string> {
  const contents = [
    ...migrations.flatMap((each) => [each.name, ...statementsOf(each, 'postgres')]),
    ...(scheduledAt === undefined ? [] : [scheduledAt, JSON.stringify(await schedules())]),
  ];
  const template = `template_${createHash('sha256').update(contents.join()).digest('hex').slice(0, 16)}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  try {
    await client.query('select pg_advisory_lock(4711)');
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [template]);
    if (rowCount === 0) await makeTemplate(server, template, scheduledAt);
    return template;
  } finally {
    await client.end();
  }
}

async function makeTemplate(server: PostgresServer, name: string, scheduledAt: number | undefined): Promise<void> {
  await fill(await openPostgres(await createDatabase(server.url, name), { connectionsMax: 1 }), scheduledAt);
}

async function fill(db: Database, scheduledAt: number | undefined): Promise<void> {
  await migrate(db, migrations, () => 0);
  if (scheduledAt !== undefined)
    for (const each of await schedules()) await schedule(db, [each], scheduledAt + each.every);
  await db.close();
}

/** The service is loaded only for this, because tests that start programs need it nowhere else. */
async function schedules(): Promise<{ kind: string; every: number }[]> {
  const { allJobs } = await import('../src/composition/compose.ts');
  return allJobs.flatMap(({ kind, every }) => (every ? [{ kind, every }] : []));
}
