import { join } from 'node:path';
import type { Environment } from '../platform/config/addresses.ts';
import { folderOf } from '../platform/config/folders.ts';
import { SettingError, type Settings } from '../platform/config/settings.ts';
import type { Database } from '../platform/database/database.ts';
import { systemClock } from '../platform/runtime/clock.ts';
import { columns, command } from './invocation/command.ts';

const NO_SUCH_DATABASE = '3D000';
const INSUFFICIENT_PRIVILEGE = '42501';
const DUPLICATE_DATABASE = '42P04';

type Say = (line: string) => void;

export default command({
  name: 'migrate',
  usage: '[--status]',
  says: `Applies missing migrations to the databases of production and sandbox.

On PostgreSQL it also creates a missing sandbox database, if its user may.
With --sandbox it migrates the sandbox alone. It may run beside a service, and twice at the same time. Backfills come
last; they may be interrupted, and the jobs of a service finish them.`,
  json: true,
  options: { status: { type: 'boolean', says: 'change nothing, and print what is left to do' } },
  run: async ({ sandbox, json, values, ...invocation }) => {
    const settings = invocation.settings();
    const say: Say = json ? () => {} : invocation.show;
    const { ENVIRONMENTS } = await import('../composition/compose.ts');
    if (values.status) return statusOf(settings, sandbox ? ['sandbox'] : ENVIRONMENTS);
    const outcomes: [Environment, { applied: string[] }][] = [];
    for (const environment of sandbox ? (['sandbox'] as const) : ENVIRONMENTS)
      outcomes.push([environment, { applied: await migrateOne(settings, environment, say) }]);
    return { object: Object.fromEntries(outcomes), text: 'up to date' };
  },
});

async function migrateOne(settings: Settings, environment: Environment, say: Say): Promise<string[]> {
  if (environment === 'sandbox' && settings.databaseUrl) await createSandbox(settings, say);
  const { migrate, pendingMigrations } = await import('../platform/database/migrate.ts');
  const { backfill } = await import('../platform/database/backfill.ts');
  const { migrations } = await import('../composition/migrations.ts');
  const db = await open(settings, environment);
  try {
    const pending = await pendingMigrations(db, migrations);
    say(`${environment}: ${pending.length === 0 ? 'nothing to do' : `${pending.length} step(s) to do`}`);
    const report = (name: string, milliseconds: number) => say(`  ${name} (${milliseconds} ms)`);
    const applied = await migrate(db, migrations, systemClock.now, { report });
    await backfill(db, migrations, ({ name, rows, done }) => {
      if (done) say(`  ${name}: ${rows} rows filled in`);
    });
    return applied;
  } finally {
    await db.close();
  }
}

async function statusOf(settings: Settings, environments: readonly Environment[]) {
  const { migrationStatus } = await import('../platform/database/backfill.ts');
  const { migrations } = await import('../composition/migrations.ts');
  const found: Record<string, Awaited<ReturnType<typeof migrationStatus>>> = {};
  for (const environment of environments) {
    const db = await open(settings, environment);
    try {
      found[environment] = await migrationStatus(db, migrations);
    } finally {
      await db.close();
    }
  }
  const lines = Object.entries(found).flatMap(([environment, { applied, pending, backfills }]) => [
    [environment, `${applied} migration(s) applied, ${pending.length} to do`] as const,
    ...pending.map((name) => ['', `to do: ${name}`] as const),
    ...backfills.map(({ name, rows, done }) => ['', `${name}: ${rows} rows, ${done ? 'done' : 'under way'}`] as const),
  ]);
  return { object: found, text: columns(lines) };
}

/** Opens a database without migrating it. */
async function open(settings: Settings, environment: Environment): Promise<Database> {
  const { databaseUrl } = await import('../composition/compose.ts');
  const url = databaseUrl(settings, environment);
  if (!url) {
    const { openSqlite } = await import('../platform/database/sqlite.ts');
    return openSqlite(join(folderOf(settings, environment), 'modstead.sqlite'));
  }
  const { openPostgres } = await import('../platform/database/postgres.ts');
  return openPostgres(url, { connectionsMax: 2 });
}

async function createSandbox(settings: Settings, say: Say): Promise<void> {
  const { databaseUrl } = await import('../composition/compose.ts');
  const { escapeIdentifier } = (await import('pg')).default;
  const url = databaseUrl(settings, 'sandbox')!;
  if ((await attempt(url)) !== NO_SUCH_DATABASE) return;
  const name = decodeURIComponent(new URL(url).pathname.slice(1));
  const code = await attempt(neighbourOf(settings, url), `create database ${escapeIdentifier(name)}`);
  if (code === INSUFFICIENT_PRIVILEGE)
    throw new SettingError(
      `The database "${name}" of the sandbox is missing and this user may not create it; create it, or set another in MODSTEAD_SANDBOX_DATABASE_URL.`,
    );
  if (code !== DUPLICATE_DATABASE) say(`sandbox: created the database ${name}`);
}

/** A database can only be created over a connection to another one on the same server. */
function neighbourOf({ databaseUrl: production, sandboxDatabaseUrl }: Settings, url: string): string {
  if (!sandboxDatabaseUrl) return production!;
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  return maintenance.href;
}

const EXPECTED: unknown[] = [NO_SUCH_DATABASE, INSUFFICIENT_PRIVILEGE, DUPLICATE_DATABASE];

/** Runs the statement and returns the code of an expected error. */
async function attempt(url: string, statement = 'select 1'): Promise<string | undefined> {
  const { Client } = (await import('pg')).default;
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5_000 });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query(statement);
    return undefined;
  } catch (error) {
    const { code } = error as { code?: string };
    if (!EXPECTED.includes(code)) throw error;
    return code;
  } finally {
    await client.end().catch(() => {});
  }
}
