import { join, resolve } from 'node:path';
import about from '../../package.json' with { type: 'json' };
import { prepareRules } from '../catalogue/rules/evaluation.ts';
import { pageOf } from '../moderation/lookups/lookups.ts';
import { pages } from '../pages/index.ts';
import { errorPage } from '../pages/layout.ts';
import { findLegalText } from '../people/agreements/agreements.ts';
import { mailInLookOf } from '../people/site/site.ts';
import { updateLastVisit } from '../people/users/users.ts';
import { createAuthenticator } from '../platform/access/authenticate.ts';
import { createGate } from '../platform/access/gate.ts';
import type { App } from '../platform/app.ts';
import { addressesOf, type Environment } from '../platform/config/addresses.ts';
import { folderOf, mailFolderOf, makePrivate } from '../platform/config/folders.ts';
import { masterSecret, secretsOf } from '../platform/config/secrets.ts';
import { SettingError, type Settings } from '../platform/config/settings.ts';
import { backfill } from '../platform/database/backfill.ts';
import type { Database } from '../platform/database/database.ts';
import { migrate, pendingMigrations } from '../platform/database/migrate.ts';
import type { ChangeNotificationOptions } from '../platform/database/postgres-notifications.ts';
import { createEgress } from '../platform/egress/egress.ts';
import { createExtensions } from '../platform/extensions.ts';
import { isTrusted } from '../platform/http/address.ts';
import { localCertificate } from '../platform/http/certificate.ts';
import type { AccessCheck } from '../platform/http/exchange.ts';
import { createMetrics, type Metrics, type MetricsSnapshot, metricsText } from '../platform/http/metrics.ts';
import type { Count } from '../platform/http/outcome.ts';
import { createPages } from '../platform/http/pages.ts';
import { openPort, type Port } from '../platform/http/port.ts';
import { createServer, type Observation, type Tenant } from '../platform/http/server.ts';
import { sessionTickets } from '../platform/http/session-tickets.ts';
import { createSite } from '../platform/http/site.ts';
import { createSockets } from '../platform/http/sockets.ts';
import { createSystemRoutes } from '../platform/http/system-routes.ts';
import { createTransfers } from '../platform/http/transfer/transfer.ts';
import { agreedTimeOf, timeOfPostgres } from '../platform/jobs/agreed-time.ts';
import { createJobs } from '../platform/jobs/jobs.ts';
import { createWorker, type JobHandler, type Worker } from '../platform/jobs/worker.ts';
import { createLimiter, type Limiter } from '../platform/limits/limits.ts';
import { mailToFiles } from '../platform/mail/files.ts';
import type { Mail } from '../platform/mail/mail.ts';
import { type Clock, systemClock } from '../platform/runtime/clock.ts';
import { createLog, type Log } from '../platform/runtime/log.ts';
import { keepNextTickFast } from '../platform/runtime/next-tick.ts';
import { type Random, systemRandom } from '../platform/runtime/random.ts';
import type { Siblings } from '../platform/runtime/siblings.ts';
import { clamdAt } from '../platform/scanning/scanning.ts';
import { localStorage } from '../platform/storage/local.ts';
import type { Storage } from '../platform/storage/storage.ts';
import type { Telemetry } from '../platform/telemetry/telemetry.ts';
import { movedIds } from '../records/imports/imports.ts';
import { findVisitor } from '../signin/sessions/visitor.ts';
import { requireCloudflareAccess } from '../studio/service/cloudflare-access.ts';
import { withAnnouncedWrites } from './announced-writes.ts';
import { migrations } from './migrations.ts';
import { contributions, finish, jobHandlers, operations, prepare, socketOperations } from './resources.ts';

/** System dependencies that tests replace. */
export interface Outside {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** How changes of other processes arrive on PostgreSQL. */
  readonly notifications?: ChangeNotificationOptions;
  /** How long PostgreSQL may make a request wait for a connection or a lock, in place of the default. */
  readonly patienceMs?: number | undefined;
  /** Absent if this is the only process of the service on this machine. */
  readonly siblings?: Siblings;
  readonly telemetry?: Telemetry | undefined;
}

export const outsideOf = (settings: Settings): Outside => ({
  clock: systemClock,
  random: systemRandom,
  log: createLog(settings.log, (text) => void process.stderr.write(text)),
});

export const ENVIRONMENTS: readonly Environment[] = ['production', 'sandbox'];

const CONNECTIONS_MAX = 10;
const CONNECTIONS_MIN = 2;
/** PostgreSQL allows 100 by default, and keeps three of them for its superuser. */
const CONNECTIONS_OF_ALL = 97;

/** Opens the database of an environment, and migrates it on SQLite. */
async function openDatabase(
  settings: Settings,
  environment: Environment,
  { clock, notifications = {}, patienceMs, siblings }: Outside,
): Promise<Database> {
  const url = databaseUrl(settings, environment);
  const readTimeoutMs = settings.readMilliseconds;
  if (!url) {
    const { openSqlite } = await import('../platform/database/sqlite.ts');
    const db = openSqlite(join(folderOf(settings, environment), 'modstead.sqlite'), { readTimeoutMs });
    try {
      await migrate(db, migrations, clock.now);
    } catch (error) {
      await db.close();
      throw error;
    }
    return db;
  }
  const { openPostgres } = await import('../platform/database/postgres.ts');
  return openPostgres(url, {
    notifications,
    patienceMs,
    readTimeoutMs,
    connectionsMax: connectionsOf(siblings?.count ?? 1),
    readUrl: environment === 'production' ? settings.databaseReadUrl : undefined,
  });
}

/**
 * The size of a pool. An environment has two of this size, two of half of it and two more connections, so up to six
 * processes with two environments each stay within PostgreSQL's default.
 */
function connectionsOf(processes: number): number {
  const ofEnvironment = CONNECTIONS_OF_ALL / processes / ENVIRONMENTS.length;
  return Math.max(CONNECTIONS_MIN, Math.min(CONNECTIONS_MAX, Math.floor((ofEnvironment - 3) / 3)));
}

export function databaseUrl(settings: Settings, environment: Environment): string | undefined {
  const { databaseUrl: production, sandboxDatabaseUrl } = settings;
  if (!production || environment === 'production') return production;
  const sandbox = sandboxDatabaseUrl ?? withSuffix(production, '_sandbox');
  if (sandbox === production)
    throw new SettingError('MODSTEAD_SANDBOX_DATABASE_URL must name another database than MODSTEAD_DATABASE_URL.');
  return sandbox;
}

function withSuffix(url: string, suffix: string): string {
  const address = new URL(url);
  address.pathname += suffix;
  return address.href;
}

const masterOf = ({ secret, data }: Settings, { random }: Outside): string =>
  secret ?? masterSecret(resolve(data), random);

/** Composes one environment. */
export async function composeApp(settings: Settings, environment: Environment, outside: Outside): Promise<App> {
  const { clock, random, log } = outside;
  const master = masterOf(settings, outside);
  const db = withAnnouncedWrites(await openDatabase(settings, environment, outside), environment, outside.siblings);
  return {
    environment,
    settings,
    addresses: addressesOf(settings, environment),
    secrets: secretsOf(master, environment),
    db,
    storage: await composeStorage(settings, environment, clock),
    mail: mailInLookOf(db, await composeMail(settings, environment, clock)),
    jobs: createJobs({ clock }),
    extensions: createExtensions(contributions),
    egress: createEgress({
      allowPrivate: settings.egressAllow,
      ...(settings.egressCa && { ca: [settings.egressCa] }),
      ...(outside.telemetry && { headers: outside.telemetry.headers }),
    }),
    scanner:
      settings.clamd === undefined ? undefined : clamdAt(settings.clamd, { patienceMs: settings.scanSeconds * 1_000 }),
    clock,
    random,
    log,
  };
}

/** Environments share a bucket, each with its own prefix. The SDK is loaded only if it is used. */
export async function composeStorage(
  settings: Settings,
  environment: Environment,
  clock: Pick<Clock, 'now'> = systemClock,
): Promise<Storage> {
  const { storage: location, freeMegabytes, storageLinks, storagePublicUrl: url, storagePublicKey: key } = settings;
  if (!location)
    return localStorage(join(folderOf(settings, environment), 'files'), { bytesKept: freeMegabytes * 1024 ** 2 });
  const { s3Storage } = await import('../platform/storage/s3.ts');
  return s3Storage(
    { ...location, prefix: `${location.prefix}${environment}/` },
    { offersLinks: storageLinks === 'on', ...(url && key && { cdn: { url, key } }), now: clock.now },
  );
}

export async function composeMail(settings: Settings, environment: Environment, clock: Clock): Promise<Mail> {
  if (!settings.smtpUrl) return mailToFiles(mailFolderOf(settings, environment), clock.now);
  const { mailOverSmtp } = await import('../platform/mail/smtp.ts');
  return mailOverSmtp(settings.smtpUrl, settings.mailFrom ?? `no-reply@${settings.domain}`);
}

export async function closeApp(app: App): Promise<void> {
  await app.mail.close();
  await app.storage.close?.();
  await app.db.close();
}

/** Finishes the backfills that `migrate` left, or that SQLite begins at its first start. */
const finishBackfills: JobHandler<App> = {
  kind: 'migrations.backfill',
  every: 3_600,
  run: (app, _, job) => backfill(app.db, migrations, () => job.heartbeat()),
};

export const allJobs: readonly JobHandler<App>[] = [...jobHandlers, finishBackfills];

export function composeWorker({ db: { withLongTimeouts: db }, ...app }: App, handlers = allJobs): Worker {
  const { clock, random, log } = app;
  // The clock of a test has nothing to do with the database's.
  const databaseTime = db.dialect === 'postgres' && clock === systemClock ? () => timeOfPostgres(db) : undefined;
  const time = agreedTimeOf({ db, clock, databaseTime });
  return createWorker({
    app: { ...app, db },
    db,
    clock,
    random,
    log,
    handlers,
    agreedTime: () => time.forDeletion(),
  });
}

async function composeLimiter(app: App): Promise<Limiter | undefined> {
  if (app.settings.rateLimits === 'off') return undefined;
  const { clock, log } = app;
  if (app.db.dialect === 'postgres') {
    const { postgresStore } = await import('../platform/limits/postgres.ts');
    return createLimiter({ store: postgresStore(app.db), clock, log });
  }
  const { sqliteStore } = await import('../platform/limits/sqlite.ts');
  return createLimiter({
    // Each process counts by itself where nothing can be written.
    store: sqliteStore(
      app.db.condition.isReadOnly ? ':memory:' : join(folderOf(app.settings, app.environment), 'limits.sqlite'),
    ),
    clock,
    log,
  });
}

async function requireUpToDate(app: App): Promise<void> {
  const pending = await pendingMigrations(app.db, migrations);
  if (pending.length > 0)
    throw new SettingError(
      `The ${app.environment} database lacks ${pending.length} migration(s); run "npx modstead migrate" first.`,
    );
}

async function composeTenant(app: App): Promise<Tenant> {
  await requireUpToDate(app);
  await prepare(app);
  const authenticator = createAuthenticator({ ...app, seen: (userId) => updateLastVisit(app, userId) });
  return { app, authenticator, gate: createGate(app), limiter: await composeLimiter(app) };
}

export interface Service {
  readonly port: number;
  readonly apps: Readonly<Record<Environment, App>>;
  /** The certificate that clients of a local service trust, if there is one. */
  readonly certificateFile: string | undefined;
  stop(): Promise<void>;
}

export interface ServiceOptions {
  readonly observe?: (observation: Observation) => void;
  /** Sockets from the supervisor, instead of the port of the settings. */
  readonly listenFds?: readonly number[];
  /** The folder of the built site; without it only the API and the pages of `src/pages` answer. */
  readonly site?: string | undefined;
}

/** Pages of `src/pages` that the site replaces. */
const SITE_PAGES: readonly string[] = [
  'page-home',
  'page-game',
  'page-mod',
  'page-guide',
  'page-collection',
  'page-user',
];

/** A misspelt operation would silently stay unlimited. */
function requireKnownLimits({ rateLimits }: Settings): void {
  if (rateLimits === 'off') return;
  const known = new Set([...operations.map(({ declaration }) => declaration.id), ...pages.map(({ id }) => id)]);
  for (const { name } of socketOperations) known.add(`socket-${name}`);
  const unknown = Object.keys(rateLimits.operations).find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new SettingError(
      `MODSTEAD_RATE_LIMITS names "${unknown}", which is neither a limit nor an operation of this version.`,
    );
}

/** Composes the whole service: both environments behind one port. */
export async function composeService(
  settings: Settings,
  given: Outside,
  options: ServiceOptions = {},
): Promise<Service> {
  void keepNextTickFast();
  const telemetry = await composeTelemetry(settings);
  const outside = { ...given, telemetry };
  requireKnownLimits(settings);
  makePrivate(settings);
  const production = await composeTenant(await composeApp(settings, 'production', outside));
  const sandbox = await composeTenant(await composeApp(settings, 'sandbox', outside));
  const tenants = { production, sandbox };
  const apps = { production: production.app, sandbox: sandbox.app };
  const metrics = createMetrics(apps);
  const { siblings } = outside;
  siblings?.reportWith(metrics.snapshot);
  const health = { draining: false };
  const draining = new AbortController();
  const transfers = createTransfers(outside.random);
  const accessCheck: AccessCheck | undefined =
    settings.cloudflareAccess &&
    ((app, { headers }) => requireCloudflareAccess(app, [headers['cf-access-jwt-assertion']].flat()[0]));
  const listener = createServer({
    settings,
    tenants,
    operations,
    systemRoutes: createSystemRoutes({
      settings,
      apps,
      operations,
      metrics: async () => {
        const snapshots = siblings ? ((await siblings.collect()) as MetricsSnapshot[]) : [metrics.snapshot()];
        // A part of the counts would look as if the service had started again.
        return snapshots.length > 0 ? metricsText(snapshots) : undefined;
      },
      transfers,
      health,
      legal: findLegalText,
      hasSite: options.site !== undefined,
      pageOf,
    }),
    pages: createPages({
      settings,
      // The site has its own.
      pages: options.site === undefined ? pages : pages.filter(({ id }) => !SITE_PAGES.includes(id)),
      errorPage,
      observe: options.observe,
    }),
    site:
      options.site === undefined ? undefined : createSite({ settings, folder: options.site, findVisitor, errorPage }),
    transfers,
    draining: draining.signal,
    accessCheck,
    prepareRules,
    movedIds,
    count: telemetry ? countingBoth(metrics, telemetry) : metrics.count,
    telemetry,
    ...(options.observe && { observe: options.observe }),
  });
  const tls = await composeTls(settings);
  const connectionsMax = shareOf(settings.connectionsPerAddress, siblings?.count ?? 1);
  const port = await openPort({
    listener,
    sockets: createSockets({ settings, tenants, operations: socketOperations, accessCheck, observe: options.observe }),
    tls: tls.options,
    tickets: sessionTickets(masterOf(settings, outside)),
    port: settings.port,
    bind: settings.bind,
    listenFds: options.listenFds,
    connectionsMax: (address) => (isTrusted(address, settings.trustProxy) ? Number.POSITIVE_INFINITY : connectionsMax),
  });
  const workers =
    settings.jobs === 'on'
      ? Object.values(apps)
          .filter(canRunJobs)
          .map((app) => composeWorker(app))
      : [];
  for (const worker of workers) worker.start();
  let stopping: Promise<void> | undefined;
  return {
    port: port.port,
    apps,
    certificateFile: tls.file,
    stop: () => (stopping ??= stopService(settings, port, workers, tenants, health, draining).finally(telemetry?.stop)),
  };
}

/** SQLite stays read-only until the service starts again; PostgreSQL may be promoted at any time. */
function canRunJobs({ db: { condition, dialect }, environment, log }: App): boolean {
  if (condition.isReadOnly) log.warn('the database cannot be written: requests can read alone', { environment });
  return !condition.isReadOnly || dialect === 'postgres';
}

/** Without a collector the packages of OpenTelemetry are not loaded. */
async function composeTelemetry({ otlpUrl: url, traceShare: share }: Settings): Promise<Telemetry | undefined> {
  if (url === undefined) return undefined;
  const { openTelemetry } = await import('../platform/telemetry/opentelemetry.ts');
  return openTelemetry({ url, share, version: about.version });
}

const countingBoth =
  (metrics: Metrics, telemetry: Telemetry): Count =>
  (...counted) => {
    metrics.count(...counted);
    telemetry.count(...counted);
  };

/** Each process's share of a limit, with room for an uneven distribution of connections. */
function shareOf(limit: number, processes: number): number {
  if (processes === 1) return limit;
  const share = limit / processes;
  return Math.min(limit, Math.ceil(share + 2 * Math.sqrt(share)));
}

/** Stops readiness first, then connections, then jobs, then their dependencies. */
async function stopService(
  settings: Settings,
  port: Port,
  workers: readonly Worker[],
  tenants: Record<Environment, Tenant>,
  health: { draining: boolean },
  draining: AbortController,
): Promise<void> {
  health.draining = true;
  draining.abort();
  await port.drain(settings.drainSeconds * 1000);
  await Promise.all(workers.map((worker) => worker.stop()));
  for (const { app, limiter } of Object.values(tenants)) {
    await finish(app);
    await limiter?.close();
    await closeApp(app);
    app.log.flush();
  }
}

async function composeTls(settings: Settings) {
  if (settings.tlsCert && settings.tlsKey)
    return { options: { cert: settings.tlsCert, key: settings.tlsKey }, file: undefined };
  const { file, ...options } = await localCertificate(join(resolve(settings.data), 'tls'), settings.domain);
  return { options, file };
}
