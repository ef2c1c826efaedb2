import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { request } from 'node:https';
import { join, resolve } from 'node:path';
import { sql } from 'kysely';
import pg from 'pg';
import { SECTIONS } from '../site/src/routes/g/[game]/admin/sections.ts';
import { addGame } from '../src/catalogue/games/games.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { composeService, outsideOf } from '../src/composition/compose.ts';
import { migrations } from '../src/composition/migrations.ts';
import { fillGame } from '../src/demo/filling.ts';
import { addMetrics } from '../src/demo/metrics.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { addUser } from '../src/people/users/users.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import { readSettings } from '../src/platform/config/settings.ts';
import { migrate } from '../src/platform/database/migrate.ts';
import { openPostgres } from '../src/platform/database/postgres.ts';
import { systemClock } from '../src/platform/runtime/clock.ts';
import { foldMetrics } from '../src/records/metrics/folding.ts';
import { addSession } from '../src/signin/sessions/sessions.ts';
import { createDatabase, startPostgres } from '../test/postgres.ts';
import { optionsOf } from './options.ts';

const options = optionsOf(
  'bench-dashboard',
  { mods: '100000', database: 'sqlite', folder: '.bench-dashboard', runs: '5', only: '' },
  `Measures the CPU time that the server takes for each page of the dashboard, on a game with many mods, of which every
fiftieth waits for a decision and every fiftieth file for a platform, with a month of decisions and a year of metrics. Fails
if a page takes more than 150 ms. --only takes a regular expression that paths have to match. On SQLite the folder is filled
once and used again. --database postgres adds the CPU time of the database server, which is temporary unless
MODSTEAD_TEST_POSTGRES_URL names one on this machine.`,
);

const CPU_MS_MAX = 150;
const WARM_UP = 2;
const WAITING_EVERY = 50;
const MONTH = 30 * 86_400;
const mods = Number(options.mods);
const isPostgres = options.database === 'postgres';
const isLasting = !isPostgres || process.env['MODSTEAD_TEST_POSTGRES_URL'] !== undefined;
const data = resolve(options.folder, isPostgres ? `postgres-${mods}` : String(mods));
const isFilled = isLasting && existsSync(join(data, 'filled'));
mkdirSync(data, { recursive: true });

interface PostgresDatabase {
  readonly env: Record<string, string>;
  /** CPU milliseconds of the server and its connections so far. */
  cpu(): number;
  stop(): Promise<void>;
}

async function startDatabase(): Promise<PostgresDatabase> {
  const server = await startPostgres({ durable: true });
  const name = `bench_dashboard_${mods}`;
  for (const each of [name, `${name}_sandbox`]) {
    const url = new URL(server.url);
    if (!isFilled) await createDatabase(server.url, each);
    url.pathname = `/${each}`;
    const db = await openPostgres(url.href, {});
    await migrate(db, migrations, systemClock.now);
    await db.close();
  }
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  const { rows } = await client.query('select pg_backend_pid() as pid');
  const main = parentOf(Number(rows[0].pid));
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    env: { MODSTEAD_DATABASE_URL: url.href },
    cpu: () => processes().reduce((sum, pid) => (parentOf(pid) === main ? sum + cpuMsOf(pid) : sum), 0),
    stop: async () => {
      await client.end();
      await server.stop();
    },
  };
}

const processes = () =>
  readdirSync('/proc')
    .filter((each) => /^\d+$/.test(each))
    .map(Number);

/** Undefined values of processes that have ended in the meantime. */
function fieldOf(pid: number, file: string, read: (text: string) => number): number {
  try {
    return read(readFileSync(`/proc/${pid}/${file}`, 'utf8'));
  } catch {
    return 0;
  }
}
const parentOf = (pid: number) =>
  fieldOf(pid, 'stat', (text) => Number(text.slice(text.lastIndexOf(')')).split(' ')[2]));
const cpuMsOf = (pid: number) => fieldOf(pid, 'schedstat', (text) => Number(text.split(' ')[0]) / 1e6);

const database = isPostgres ? await startDatabase() : undefined;

const settings = readSettings({
  ...process.env,
  MODSTEAD_DATA: data,
  MODSTEAD_PORT: '0',
  MODSTEAD_JOBS: 'off',
  MODSTEAD_LOG: 'error',
  MODSTEAD_RATE_LIMITS: 'off',
  ...database?.env,
});
const service = await composeService(settings, outsideOf(settings), { site: builtSite() });
const app = service.apps.production;

async function fill(): Promise<void> {
  const owner = await app.db.write(async (transaction) => {
    const user = await addUser(app, transaction, { username: 'Owner' });
    await joinStaff(transaction, { userId: user.id, level: STAFF_LEVELS.owner, addedBy: 0, now: app.clock.now() });
    return user;
  });
  const game = await app.db.write((transaction) =>
    addGame(app, transaction, { name: 'Full Game', ownerId: owner.id, accepted: true }),
  );
  await fillGame(app, { gameId: game.id, mods, seed: 'bench' });
  await addMetrics(app, { gameId: game.id, seed: 'bench' });
  await foldMetrics(app);
  await app.db.withLongTimeouts.write(async ({ query }) => {
    await sql`update mods set status = 0 where id % ${sql.lit(WAITING_EVERY)} = 0`.execute(query);
    await sql`update mod_cards set status = 0 where mod_id % ${sql.lit(WAITING_EVERY)} = 0`.execute(query);
    await sql`insert into moderation_decisions (game_id, resource, resource_id, action, reason, user_id, date_added,
      appeal, date_appealed, status_before, status_after, waited)
      select game_id, 'mods', id, 'approve', '', ${owner.id}, ${app.clock.now()} - id * ${sql.lit(MONTH)} / ${sql.lit(mods)}, '', 0, 0, 1, id % 90000
      from mods where status = 1`.execute(query);
    await sql`insert into modfile_platforms (modfile_id, platform, status)
      select id, 'ps5', case when id % ${sql.lit(WAITING_EVERY)} = 0 then 0 else 1 end from modfiles`.execute(query);
    await sql`insert into reports (resource, resource_id, game_id, author_id, user_id, type, reason, status, date_added,
      date_resolved, resolved_by, platforms, name, contact, summary, resolution, rule_id)
      select 'mods', id, game_id, submitted_by, 0, 0, 0, 0, ${app.clock.now()}, 0, 0, '', '', '', 'Wrong', '', 0
      from mods where id % 97 = 0`.execute(query);
  });
  // Autovacuum would do the same in time.
  if (isPostgres) await app.db.withLongTimeouts.executeAlone('vacuum analyze');
  mkdirSync(join(data, 'filled'), { recursive: true });
}

if (!isFilled) await fill();
const game = await app.db.query.selectFrom('games').select(['id', 'name_id', 'submitted_by']).executeTakeFirstOrThrow();
const waiting = await app.db.query.selectFrom('mods').select('id').where('status', '=', 0).executeTakeFirstOrThrow();
const file = await app.db.query
  .selectFrom('modfile_platforms as p')
  .innerJoin('modfiles as f', 'f.id', 'p.modfile_id')
  .select(['f.id', 'f.mod_id'])
  .where('p.status', '=', 0)
  .executeTakeFirstOrThrow();
const secret = await app.db.write((transaction) => addSession(app, transaction, game.submitted_by, 'bench'));
const cookie = `__Host-modstead_session=${secret}`;

function open(path: string): Promise<number> {
  return new Promise((done, fail) => {
    const asked = request(
      {
        port: service.port,
        host: '127.0.0.1',
        path,
        rejectUnauthorized: false,
        headers: { host: 'localhost', cookie },
      },
      (answer) => answer.resume().on('end', () => done(answer.statusCode!)),
    );
    asked.on('error', fail).end();
  });
}

const base = `/g/${game.name_id}/admin`;
const paths = [
  ...SECTIONS.flatMap(({ pages }) => pages.map(([path]) => (path === '' ? base : `${base}/${path}`))),
  `${base}?days=365`,
  ...['page=20', 'kind=mods', 'appeals', 'mine'].map((view) => `${base}/moderation?${view}`),
  `${base}/moderation/mods/${waiting.id}`,
  `${base}/moderation/files?page=20`,
  `${base}/moderation/files/${file.mod_id}/${file.id}`,
  `${base}/rules/decisions`,
  ...['', '/users', '/staff', '/bans', '/games', '/reports', '/plans', '/look', '/installation', '/jobs'].map(
    (path) => `/admin${path}`,
  ),
  ...['/agreements', '/agreements/1', '/money', '/books', '/limits', '/slow', '/audit'].map((path) => `/admin${path}`),
  `/admin/users/${game.submitted_by}`,
  '/studio',
  '/setup/site',
  '/setup/game',
].filter((path) => new RegExp(options.only).test(path));

/** The median CPU time of one request, which this process sends itself. */
async function measured(path: string): Promise<{ status: number; ms: number }> {
  let status = 0;
  for (let run = 0; run < WARM_UP; run += 1) status = await open(path);
  const runs: number[] = [];
  for (let run = 0; run < Number(options.runs); run += 1) {
    const before = process.cpuUsage();
    const elsewhere = database?.cpu() ?? 0;
    await open(path);
    const { user, system } = process.cpuUsage(before);
    runs.push((user + system) / 1_000 + (database?.cpu() ?? 0) - elsewhere);
  }
  return { status, ms: runs.sort((one, other) => one - other)[Math.floor(runs.length / 2)]! };
}

for (const path of paths) await open(path);
console.log(
  `${mods.toLocaleString('en')} mods, ${options.database}\n\n| page | status | CPU ms |\n| --- | ---: | ---: |`,
);
let isSlow = false;
for (const path of paths) {
  const { status, ms } = await measured(path);
  isSlow ||= ms > CPU_MS_MAX || status !== 200;
  console.log(`| ${path.replace(base, '')} | ${status} | ${ms.toFixed(0)}${ms > CPU_MS_MAX ? ' !' : ''} |`);
}
await service.stop();
await database?.stop();
process.exit(isSlow ? 1 : 0);
