import { X509Certificate } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { STAFF_LEVELS, staffLevel } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import { definitions, type Settings } from '../../platform/config/settings.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { parkedJobs, retryParked } from '../../platform/jobs/jobs.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { MessageValues } from '../../platform/localisation/message-format.ts';
import { localise, type TextName } from '../../platform/localisation/texts.ts';
import { audit } from '../../records/audit/audit.ts';
import { listLimited, listSlow } from '../../records/traffic/traffic.ts';
import * as store from './store.ts';

/** Settings whose values contain or are credentials. */
const SECRET: ReadonlySet<string> = new Set<keyof Settings>([
  'databaseUrl',
  'databaseReadUrl',
  'sandboxDatabaseUrl',
  'smtpUrl',
  'secret',
  'metricsToken',
  'storage',
  'storagePublicKey',
  'tlsKey',
  'tlsCert',
  'stripeKey',
  'stripeWebhookSecret',
  'egressCa',
]);

function requireAdministrator(caller: Caller): void {
  if (staffLevel(caller) < STAFF_LEVELS.administrator) throw new ApiError('USER_CANT_VIEW_ADMIN_ONLY');
}

interface PartHealth {
  readonly part: 'database' | 'storage' | 'mail' | 'scanner' | 'disk' | 'certificate';
  readonly ok: boolean;
  /** In the language of the request. */
  readonly detail: string;
  /** The words of a library or of another program. */
  readonly original: string;
}

type Findings = Partial<Omit<PartHealth, 'part'>>;

async function examined(part: PartHealth['part'], check: () => Promise<Findings>): Promise<PartHealth> {
  const unless = { part, ok: true, detail: '', original: '' };
  try {
    return { ...unless, ...(await check()) };
  } catch (cause) {
    return { ...unless, ok: false, original: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** What the service depends on, examined now, and the settings in force. */
export async function showInstallation(app: App, caller: Caller, language: Language) {
  requireAdministrator(caller);
  const { settings, scanner } = app;
  const said = (name: TextName, values?: MessageValues) => ({ detail: localise(name, language, values) });
  const parts = await Promise.all([
    examined('database', async () => {
      const count = await store.countMigrations(app.db.query);
      return said('installation_database', { database: DATABASES[app.db.dialect], count });
    }),
    examined('storage', async () => {
      await app.storage.check();
      return said(settings.storage ? 'installation_bucket' : 'installation_folder');
    }),
    examined('mail', async () => {
      await app.mail.check();
      return said(settings.smtpUrl ? 'installation_smtp' : 'installation_folder');
    }),
    examined('scanner', async () =>
      scanner ? { original: await scanner.version() } : said('installation_no_scanner'),
    ),
    examined('disk', () => freeSpace(settings, language)),
    examined('certificate', async () => certificate(app, language)),
  ]);
  return { parts, jobs: await store.countJobs(app.db.query), settings: settingsInForce(settings) };
}

const DATABASES = { sqlite: 'SQLite', postgres: 'PostgreSQL' } as const;
const WEEK_SECONDS = 7 * 86_400;

/** The service renews a local certificate by itself; one of the settings is the operator's to renew. */
function certificate({ settings: { tlsCert }, clock }: App, language: Language): Findings {
  if (!tlsCert) return { detail: localise('installation_own_certificate', language) };
  const { validToDate } = new X509Certificate(tlsCert);
  const date = new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(validToDate);
  return {
    ok: validToDate.getTime() / 1000 >= clock.now() + WEEK_SECONDS,
    detail: localise('installation_certificate', language, { date }),
  };
}

const GIGABYTE = 1_000_000_000;

async function freeSpace({ data, freeMegabytes }: Settings, language: Language): Promise<Findings> {
  const { bavail, blocks, bsize } = await statfs(data);
  const free = bavail * bsize;
  const { format } = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  const gigabytes = { free: format(free / GIGABYTE), total: format((blocks * bsize) / GIGABYTE) };
  return { ok: free >= freeMegabytes * 1_000_000, detail: localise('installation_disk', language, gigabytes) };
}

/** Secrets are never shown, only whether they are set. */
function settingsInForce(settings: Settings) {
  return Object.entries(definitions).map(([key, { name, fallback }]) => {
    const value = settings[key as keyof Settings];
    const isSet = value !== undefined && value !== '';
    if (SECRET.has(key)) return { name, value: isSet ? '***' : '', fallback };
    return { name, value: typeof value === 'object' ? JSON.stringify(value) : String(value ?? ''), fallback };
  });
}

export async function listParkedJobs(app: App, caller: Caller) {
  requireAdministrator(caller);
  return parkedJobs(app.db, 1_000);
}

/** Runs a job that failed permanently again, with all of its attempts. */
export async function retryJob(app: App, caller: UserCaller, id: number): Promise<void> {
  requireAdministrator(caller);
  if (!(await retryParked(app.db, app.clock, id))) throw new ApiError('RESOURCE_NOT_FOUND');
  const subject = { resource: 'jobs', id, gameId: 0 };
  await app.db.write((transaction) => audit(app, transaction, { actor: caller.userId, action: 'jobs.retry', subject }));
}

type Page = { readonly limit: number; readonly offset: number };

export async function limitedRequests(app: App, caller: Caller, page: Page) {
  requireAdministrator(caller);
  return listLimited(app, page);
}

export async function slowRequests(app: App, caller: Caller, slowestFirst: boolean, page: Page) {
  requireAdministrator(caller);
  return listSlow(app, slowestFirst, page);
}
