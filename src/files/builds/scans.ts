import { shownFindings } from '../../catalogue/findings/findings.ts';
import { requireGameForChange } from '../../catalogue/games/games.ts';
import { OPERATOR } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import type { RunningJob } from '../../platform/jobs/worker.ts';
import {
  ScannerUnavailable,
  type ScanResult,
  type Threat,
  VIRUS_POSITIVE,
  VIRUS_STATUS,
} from '../../platform/scanning/scanning.ts';
import { recordStudioEvent } from '../../records/webhooks/outbox.ts';
import { cooksScope } from '../cooks/states.ts';
import { announceThreat } from '../modfiles/extensions.ts';
import { findingsOf, isInconclusive, scanAt } from '../modfiles/scans.ts';
import { CLOUD_COOKING, putStatus } from './builds.ts';
import { BUILD_POLICY } from './policy.ts';
import * as store from './store.ts';
import { enqueueThreatMails } from './threat-mails.ts';

export const SCAN = 'cook-builds.scan';

const BUILDS_AT_ONCE = 100;

/** If a scanner is configured, a build is scanned before runners get it. */
export async function awaitScan(app: App, transaction: Transaction, uuid: string): Promise<void> {
  if (app.scanner) await app.jobs.enqueue(transaction, SCAN, { uuid }, { key: uuid });
}

export async function scanBuild(app: App, uuid: string, job: RunningJob): Promise<void> {
  const build = await store.byUuid(app.db, uuid);
  if (!app.scanner || !build || !isScannable(build)) return;
  await app.db.write((transaction) => begin(transaction, build));
  const scan = await scanAt(app, build.storage_key!, job, BUILD_POLICY);
  // Fails if another worker has claimed the job; that worker starts over.
  await job.heartbeat();
  await app.db.write((transaction) => settle(app, transaction, build, scan));
  if (scan.again) throw new ScannerUnavailable(`the scanner is away: ${scan.unscanned[0]?.why}`);
}

/** A valid archive, also one that a scan has taken down, because scanners report false positives. */
const isScannable = ({ state, virus_positive }: store.BuildRow): boolean =>
  state === 'valid' || (state === 'invalid' && virus_positive === VIRUS_POSITIVE.THREAT);

/** A build that has passed before stays available while it is scanned again. */
async function begin({ query }: Transaction, build: store.BuildRow): Promise<void> {
  if (build.virus_status === VIRUS_STATUS.SCANNED) return;
  await store.change(query, build.id, { virus_status: VIRUS_STATUS.SCAN_IN_PROGRESS });
}

async function settle(app: App, transaction: Transaction, { id, game_id }: store.BuildRow, scan: ScanResult) {
  const game = await requireGameForChange(transaction, OPERATOR, game_id);
  const before = await store.forChange(transaction, id);
  if (!before || !isScannable(before) || isInconclusive(before, scan)) return;
  const build = await store.change(transaction.query, id, {
    virus_status: scan.status,
    virus_positive: scan.positive,
    findings: JSON.stringify(shownFindings(findingsOf(scan))),
    ...(!scan.again && { date_scanned: app.clock.now() }),
  });
  // Cooks wait for the scan of their build.
  transaction.changed(cooksScope(game_id));
  const [threat] = scan.threats;
  if (threat) await takeDown(app, transaction, build, threat, game.cloud_cooking_status);
  else if (before.state === 'invalid') await restore(app, transaction, build);
}

/** The build stays marked as live, so that cooks wait for another one instead of running without a build. */
async function takeDown(app: App, transaction: Transaction, build: store.BuildRow, threat: Threat, status: number) {
  if (build.state === 'invalid') return;
  const { path: entry, signature } = threat;
  const problem = JSON.stringify({ field: 'build', rule: 'archive_threat', values: { entry, threat: signature } });
  await store.change(transaction.query, build.id, { state: 'invalid', problem, date_updated: app.clock.now() });
  const concernsAll = build.is_live === 1 || status === CLOUD_COOKING.INITIALIZED;
  if (concernsAll) await putStatus(app, transaction, build.game_id, CLOUD_COOKING.ACTION_REQUIRED);
  const { game_id: gameId, added_by: authorId } = build;
  const content = { resource: 'games', id: gameId, gameId, authorId } as const;
  await announceThreat(app, transaction, content, { signature, entry });
  await enqueueThreatMails(app, transaction, build);
  await recordStudioEvent(app, transaction, {
    gameId,
    kind: 'COOK_BUILD_WITHDRAWN',
    subject: `games/${gameId}`,
    data: { build_id: build.build_uuid, is_live: build.is_live === 1, path: entry, threat: signature },
  });
}

/** Restores a build after a false positive. */
async function restore(app: App, transaction: Transaction, build: store.BuildRow): Promise<void> {
  await store.change(transaction.query, build.id, { state: 'valid', problem: '', date_updated: app.clock.now() });
  if (build.is_live === 0) return;
  const isManned = await store.hasRunners(transaction, build.game_id);
  await putStatus(app, transaction, build.game_id, isManned ? CLOUD_COOKING.ENABLED : CLOUD_COOKING.FINALIZING);
}

/** Scans all builds again. Returns their number. */
export const scanEveryBuild = (app: App): Promise<number> => enqueueAll(app, true);

/** Scans builds without a completed scan, such as those from before a scanner was configured. */
export async function scanWaitingBuilds(app: App): Promise<void> {
  if (app.scanner) await enqueueAll(app, false);
}

async function enqueueAll(app: App, all: boolean): Promise<number> {
  let count = 0;
  for (let last = 0; ; ) {
    const builds = await store.scannableAfter(app.db.query, last, all, BUILDS_AT_ONCE);
    if (builds.length === 0) return count;
    await app.db.write(async (transaction) => {
      for (const { build_uuid: uuid } of builds) await app.jobs.enqueue(transaction, SCAN, { uuid }, { key: uuid });
    });
    count += builds.length;
    last = builds.at(-1)!.id;
  }
}

/** The number of builds to scan, and of scans that are waiting. */
export const buildScanProgress = async ({ db }: App): Promise<{ files: number; left: number }> => ({
  files: await store.countScannable(db),
  left: await store.countOpenJobs(db, SCAN),
});
