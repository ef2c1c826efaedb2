import { FINDING, type Finding, putFindings } from '../../catalogue/findings/findings.ts';
import {
  applyModChanges,
  invalidateMod,
  lockMod,
  MOD_ACCEPTED,
  MOD_NOT_ACCEPTED,
  type ModRow,
} from '../../catalogue/mods/mods.ts';
import type { App } from '../../platform/app.ts';
import { storedSource } from '../../platform/archives/archives.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { RunningJob } from '../../platform/jobs/worker.ts';
import {
  isScanPassed,
  type ScanLimits,
  ScannerUnavailable,
  type ScanResult,
  scanArchive,
  type Threat,
  VIRUS_POSITIVE,
  VIRUS_STATUS,
} from '../../platform/scanning/scanning.ts';
import { writeDocument } from './documents.ts';
import { announceThreat } from './extensions.ts';
import { releaseAwaited, withdrawModfile } from './releasing.ts';
import * as store from './store.ts';
import { enqueueThreatMails } from './threat-mails.ts';

export const SCAN = 'modfiles.scan';
export const SCAN_MANY = 'modfiles.scan-many';

const MEGABYTE = 1024 ** 2;
const HEARTBEAT_MS = 20_000;
const FILES_AT_ONCE = 50;
const KEYS_AT_ONCE = 100;
const FILE_DELETED = 3;
const OF_SCANS = [FINDING.THREAT, FINDING.DOUBTFUL, FINDING.UNSCANNED] as const;

/** Enqueues the scan of a new file if a scanner is configured. Files with identical bytes share the result. */
export async function awaitScan(
  app: App,
  transaction: Transaction,
  { storage_key: key }: Pick<store.ModfileRow, 'storage_key'>,
): Promise<void> {
  if (app.scanner) await app.jobs.enqueue(transaction, SCAN, { key }, { key });
}

/** Scans the bytes under a key, and stores the result with each file that has them. */
export async function scanBytes(app: App, key: string, job: RunningJob): Promise<void> {
  const [first] = await store.filesAt(app.db, key, 0, 1);
  if (!app.scanner || !first) return;
  await eachFile(app, listedAt(app, key), job, (transaction, _, file) => begin(transaction, file));
  const scan = await scanAt(app, key, job);
  await eachFile(app, listedAt(app, key), job, (transaction, mod, file) => settle(app, transaction, mod, file, scan));
  if (scan.again) throw new ScannerUnavailable(`the scanner is away: ${scan.unscanned[0]?.why}`);
}

/** Extends the job’s lease while the scan runs. */
export async function scanAt(
  app: App,
  key: string,
  job: RunningJob,
  policy?: ScanLimits['policy'],
): Promise<ScanResult> {
  const beat = setInterval(() => void job.heartbeat().catch(() => {}), HEARTBEAT_MS).unref();
  try {
    const limits = { fileBytesMax: app.settings.scanMegabytes * MEGABYTE, ...(policy && { policy }) };
    return await scanArchive(await storedSource(app.storage, key), app.scanner!, limits);
  } finally {
    clearInterval(beat);
  }
}

type Listed = (afterId: number) => Promise<store.FileOfMod[]> | store.FileOfMod[];
type Work = (transaction: Transaction, mod: ModRow, file: store.ModfileRow) => Promise<void>;

const listedAt =
  (app: App, key: string): Listed =>
  (afterId) =>
    store.filesAt(app.db, key, afterId, FILES_AT_ONCE);

/** Works in batches, because very many files can share their bytes. Each file is changed under its mod’s lock. */
async function eachFile(app: App, listed: Listed, job: RunningJob, work: Work): Promise<void> {
  let last: number | undefined = 0;
  while (last !== undefined) {
    // Fails if another worker has claimed the job; that worker starts over.
    await job.heartbeat();
    const files = await listed(last);
    if (files.length > 0) await app.db.write((transaction) => workOn(transaction, files, work));
    last = files.at(-1)?.id;
  }
}

async function workOn(transaction: Transaction, files: readonly store.FileOfMod[], work: Work): Promise<void> {
  for (const { id, mod_id } of files.toSorted((one, two) => one.mod_id - two.mod_id)) {
    const mod = await lockMod(transaction, mod_id);
    const file = await store.rowOf(transaction, id);
    if (mod && file && file.status !== FILE_DELETED) await work(transaction, mod, file);
  }
}

/** A file that has passed before stays available while it is scanned again. */
async function begin(transaction: Transaction, file: store.ModfileRow): Promise<void> {
  if (file.virus_status === VIRUS_STATUS.SCANNED) return;
  await put(transaction, file, { virus_status: VIRUS_STATUS.SCAN_IN_PROGRESS });
}

async function put(
  transaction: Transaction,
  file: store.ModfileRow,
  values: Partial<Pick<store.ModfileRow, 'virus_status' | 'virus_positive' | 'date_scanned'>>,
): Promise<store.ModfileRow> {
  const after = await store.change(transaction, file.id, values);
  await writeDocument(transaction, after);
  invalidateMod(transaction, file.game_id, file.mod_id);
  return after;
}

/** A failed scan does not replace the result of a complete one, unless the bytes are missing. */
export const isInconclusive = (before: { readonly virus_status: number }, scan: ScanResult): boolean =>
  before.virus_status === VIRUS_STATUS.SCANNED &&
  scan.status !== VIRUS_STATUS.SCANNED &&
  scan.status !== VIRUS_STATUS.FILE_NOT_FOUND;

async function settle(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  before: store.ModfileRow,
  scan: ScanResult,
): Promise<void> {
  if (isInconclusive(before, scan)) return;
  const after = await put(transaction, before, {
    virus_status: scan.status,
    virus_positive: scan.positive,
    ...(!scan.again && { date_scanned: app.clock.now() }),
  });
  await putFindings(app, transaction, after, OF_SCANS, findingsOf(scan));
  const [was, is] = [before, after].map((file) => file.virus_positive === VIRUS_POSITIVE.THREAT);
  if (is) return takeDown(app, transaction, mod, after, scan.threats[0]!);
  // The threat was a false positive. The team can make the file live again.
  const userId = after.submitted_by;
  if (was && isScanPassed(after, app.settings) && after.withdrawn === 1)
    await withdrawModfile(app, transaction, mod, after.id, { withdrawn: false, userId });
  await releaseAwaited(app, transaction, mod, after, userId);
}

/** The findings that moderators see. */
export function findingsOf({ threats, doubtful, unscanned }: ScanResult): Finding[] {
  return [
    ...threats.map(({ path, signature }) => ({ kind: FINDING.THREAT, path, detail: signature })),
    ...doubtful.map((path) => ({ kind: FINDING.DOUBTFUL, path, detail: '' })),
    ...unscanned.map(({ path, why }) => ({ kind: FINDING.UNSCANNED, path, detail: why })),
  ];
}

/** A mod that loses its last live file is no longer accepted, so the game’s team reviews it before it returns. */
async function takeDown(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  file: store.ModfileRow,
  { path: entry, signature }: Threat,
): Promise<void> {
  if (file.withdrawn === 1) return;
  const userId = file.submitted_by;
  const wasLive = (await store.liveFilesOf(transaction, mod.id)).size > 0;
  await withdrawModfile(app, transaction, mod, file.id, { withdrawn: true, userId });
  const isLive = (await store.liveFilesOf(transaction, mod.id)).size > 0;
  if (wasLive && !isLive && mod.status === MOD_ACCEPTED)
    await applyModChanges(app, transaction, mod, { status: MOD_NOT_ACCEPTED }, userId);
  const content = { resource: 'mods', id: mod.id, gameId: mod.game_id, authorId: userId } as const;
  await announceThreat(app, transaction, content, { signature, entry, file });
  await enqueueThreatMails(app, transaction, file);
}

/** The progress of a scan over many files: the last key that was enqueued. */
export interface Pass {
  readonly after: string;
  /** Includes files that were scanned before. */
  readonly all: boolean;
}

/** Enqueues a scan of every file in steps; an interrupted step is repeated by itself. */
export async function scanEverything(app: App): Promise<number> {
  await app.db.write((transaction) => app.jobs.enqueue(transaction, SCAN_MANY, { after: '', all: true }));
  return store.countKeys(app.db);
}

/** The number of stored files, and of those that still have to be scanned. */
export async function scanProgress({ db }: App): Promise<{ files: number; left: number }> {
  const passes = await store.openJobs<Pass>(db, SCAN_MANY);
  const ahead = await Promise.all(passes.filter(({ all }) => all).map(({ after }) => store.countKeysAfter(db, after)));
  const waiting = (await store.openJobs(db, SCAN)).length;
  return { files: await store.countKeys(db), left: waiting + Math.max(0, ...ahead) };
}

export async function scanMany(app: App, { after, all }: Pass): Promise<void> {
  const keys = app.scanner ? await store.keysAfter(app.db, after, all, KEYS_AT_ONCE) : [];
  const last = keys.at(-1);
  if (last === undefined) return;
  await app.db.write(async (transaction) => {
    for (const key of keys) await app.jobs.enqueue(transaction, SCAN, { key }, { key });
    // Enqueued behind this step’s scans, so that new uploads do not wait for the whole pass.
    await app.jobs.enqueue(transaction, SCAN_MANY, { after: last, all });
  });
}

/**
 * Scans files without a completed scan, such as those uploaded before a scanner was configured or during its outage.
 */
export async function scanWaiting(app: App, job: RunningJob): Promise<void> {
  await scanMany(app, { after: '', all: false });
  await eachFile(
    app,
    (afterId) => store.awaitedAfter(app.db, afterId, FILES_AT_ONCE),
    job,
    (transaction, mod, file) => releaseAwaited(app, transaction, mod, file, file.submitted_by),
  );
}
