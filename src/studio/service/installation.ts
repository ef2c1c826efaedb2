import { X509Certificate } from 'node:crypto';
import { statfs } from 'node:fs/promises';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { STAFF_LEVELS, staffLevel } from '../../platform/access/staff.ts';
import type { App } from '../../platform/app.ts';
import { definitions, type Settings } from '../../platform/config/settings.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { parkedJobs, retryParked } from '../../platform/jobs/jobs.ts';
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
  readonly detail: string;
}

async function examined(part: PartHealth['part'], check: () => Promise<string>): Promise<PartHealth> {
  try {
    return { part, ok: true, detail: await check() };
  } catch (cause) {
    return { part, ok: false, detail: cause instanceof Error ? cause.message : String(cause) };
  }
}

/** What the service depends on, examined now, and the settings in force. */
export async function showInstallation(app: App, caller: Caller) {
  requireAdministrator(caller);
  const { settings, scanner } = app;
  const parts = await Promise.all([
    examined('database', async () => `${app.db.dialect}, ${await store.countMigrations(app.db.query)} migrations`),
    examined('storage', async () => app.storage.check().then(() => (settings.storage ? 's3' : 'local'))),
    examined('mail', async () => app.mail.check().then(() => (settings.smtpUrl ? 'smtp' : 'folder'))),
    examined('scanner', async () => (scanner ? scanner.version() : 'off')),
    examined('disk', () => freeSpace(settings)),
    examined('certificate', () => certificate(app)),
  ]);
  return { parts, jobs: await store.countJobs(app.db.query), settings: settingsInForce(settings) };
}

const WEEK_SECONDS = 7 * 86_400;

/** The service renews a local certificate by itself; one of the settings is the operator's to renew. */
async function certificate({ settings: { tlsCert }, clock }: App): Promise<string> {
  if (!tlsCert) return 'local';
  const { validToDate } = new X509Certificate(tlsCert);
  const said = `valid until ${validToDate.toISOString().slice(0, 10)}`;
  if (validToDate.getTime() / 1000 < clock.now() + WEEK_SECONDS) throw new Error(said);
  return said;
}

const GIGABYTE = 1_000_000_000;

async function freeSpace({ data, freeMegabytes }: Settings): Promise<string> {
  const { bavail, blocks, bsize } = await statfs(data);
  const free = bavail * bsize;
  const said = `${(free / GIGABYTE).toFixed(1)} of ${((blocks * bsize) / GIGABYTE).toFixed(1)} GB free`;
  if (free < freeMegabytes * 1_000_000) throw new Error(said);
  return said;
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
