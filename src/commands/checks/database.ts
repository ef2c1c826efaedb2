import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrations } from '../../composition/migrations.ts';
import type { Environment } from '../../platform/config/addresses.ts';
import { folderOf } from '../../platform/config/folders.ts';
import type { Settings } from '../../platform/config/settings.ts';
import { SharedSessions } from '../../platform/database/failures.ts';
import { isUnreleased, UNRELEASED } from '../../platform/database/migrate.ts';
import { type Check, Wrong } from './check.ts';

const POSTGRES_LEAST = 150_000;
const CLOCK_SECONDS_APART_MAX = 30;

export const databaseChecks = (settings: Settings, environment: Environment, url: string | undefined): Check[] => [
  {
    name: `${environment} database`,
    todo: url
      ? 'Start PostgreSQL, check the network, or correct MODSTEAD_DATABASE_URL.'
      : 'Restore the database from a backup, or check the permissions of its folder.',
    run: () => (url ? checkPostgres(url) : checkSqlite(join(folderOf(settings, environment), 'modstead.sqlite'))),
  },
];

/** Read-only: the check must not migrate a database. */
async function checkSqlite(file: string): Promise<string> {
  if (!existsSync(file)) return `SQLite; ${file} will be created at the first start`;
  const db = new DatabaseSync(file, { readOnly: true, timeout: 2_000 });
  try {
    const [found] = db.prepare('pragma quick_check(1)').all() as { quick_check: string }[];
    if (found?.quick_check !== 'ok') throw new Wrong(`${file} is damaged: ${found?.quick_check}`);
    const applied = db.prepare('select name from migrations').all() as { name: string }[];
    const missing = missingOf(applied);
    return missing === 0
      ? 'SQLite, intact and up to date'
      : `SQLite, intact; "serve" will apply ${missing} migration(s)`;
  } finally {
    db.close();
  }
}

function missingOf(applied: readonly { name: string }[]): number {
  const names = applied.map(({ name }) => name);
  if (isUnreleased(migrations, names))
    throw new Wrong(UNRELEASED, 'Use an empty database, or the version that made it.');
  return migrations.filter(({ name }) => !names.includes(name)).length;
}

interface About {
  number: string;
  version: string;
  migrated: string | null;
  now: string;
}

async function checkPostgres(url: string): Promise<string> {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    const { rows } = await client.query<About>(`select current_setting('server_version_num') as number,
      current_setting('server_version') as version, to_regclass('migrations') as migrated, extract(epoch from now()) as now`);
    const [about] = rows as [About];
    requireVersion(about);
    const applied = about.migrated ? (await client.query<{ name: string }>('select name from migrations')).rows : [];
    const missing = missingOf(applied);
    if (missing > 0) throw new Wrong(`${missing} migration(s) are missing`, 'Run "npx modstead migrate".');
    const { requireOwnSessions } = await import('../../platform/database/postgres-pooler.ts');
    await requireOwnSessions(url);
    return `PostgreSQL ${about.version}, up to date`;
  } catch (error) {
    if (error instanceof SharedSessions) throw new Wrong(error.message, 'Set pool_mode=session, or connect directly.');
    if ((error as { code?: string }).code !== '3D000') throw error;
    throw new Wrong((error as Error).message, 'Run "npx modstead migrate", or create the database.');
  } finally {
    await client.end().catch(() => {});
  }
}

function requireVersion({ number, version, now }: About): void {
  if (Number(number) < POSTGRES_LEAST)
    throw new Wrong(`PostgreSQL ${version} is too old`, 'Upgrade to PostgreSQL 15 or newer.');
  const apart = Math.abs(Number(now) - Date.now() / 1000);
  if (apart > CLOCK_SECONDS_APART_MAX)
    throw new Wrong(
      `its clock and that of this machine are ${Math.round(apart)} seconds apart`,
      'Set both clocks, preferably by NTP.',
    );
}
