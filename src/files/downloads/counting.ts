import { countDownload } from '../../catalogue/stats/stats.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { countActive } from '../../records/metrics/counting.ts';
import * as store from './store.ts';

export interface BegunDownload {
  readonly mod_id: number;
  readonly game_id: number;
  readonly platform: string;
  /** The network address that counts as one downloader. */
  readonly address: string;
  /** Set if the client is signed in. */
  readonly userId?: number | undefined;
}

const DAY = 86_400;
const GATHER_MS = 1_000;
const GATHERED_MAX = 1_000;

/** Batches downloads that are not in the database yet. */
class DownloadBatch {
  readonly #app: App;
  #begun: BegunDownload[] = [];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(app: App) {
    this.#app = app;
  }

  add(download: BegunDownload): void {
    this.#begun.push(download);
    if (this.#begun.length >= GATHERED_MAX) void this.write();
    else this.#timer ??= setTimeout(() => void this.write(), GATHER_MS).unref();
  }

  /** Settles when all downloads that were added so far are counted, or failed to be. */
  write(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const begun = this.#begun;
    this.#begun = [];
    this.#writing = this.#writing.then(() => this.#count(begun));
    return this.#writing;
  }

  async #count(begun: readonly BegunDownload[]): Promise<void> {
    if (begun.length === 0) return;
    try {
      await this.#app.db.write((transaction) => countAll(this.#app, transaction, begun));
    } catch (error) {
      this.#app.log.warn('downloads could not be counted', { downloads: begun.length, error });
    }
  }
}

const gatherings = new WeakMap<App, DownloadBatch>();

function batchOf(app: App): DownloadBatch {
  const known = gatherings.get(app) ?? new DownloadBatch(app);
  gatherings.set(app, known);
  return known;
}

/** Counts the download within a second, in a batch, so that the response does not wait for it. */
export const queueDownload = (app: App, download: BegunDownload): void => batchOf(app).add(download);

/** Settles when every batched download is counted. */
export const flushDownloads = (app: App): Promise<void> => batchOf(app).write();

/** Ordered by mod, so that two processes that count the same mods cannot deadlock. */
async function countAll(app: App, transaction: Transaction, begun: readonly BegunDownload[]): Promise<void> {
  const first: BegunDownload[] = [];
  const counts = new Map<number, { id: number; game_id: number; downloads: number; platforms: Map<string, number> }>();
  for (const download of begun.toSorted((a, b) => a.mod_id - b.mod_id)) {
    if (!(await isFirstOfDay(app, transaction, download))) continue;
    first.push(download);
    const { mod_id: id, game_id, platform } = download;
    const { downloads, platforms } = counts.get(id) ?? { downloads: 0, platforms: new Map<string, number>() };
    if (platform !== '') platforms.set(platform, (platforms.get(platform) ?? 0) + 1);
    counts.set(id, { id, game_id, downloads: downloads + 1, platforms });
  }
  for (const { downloads, platforms, ...mod } of counts.values())
    await countDownload(app, transaction, mod, downloads, platforms);
  for (const { game_id, address, userId, platform } of first)
    await countActive(
      app,
      transaction,
      game_id,
      userId === undefined ? { address, platform } : { userId, address, platform },
    );
}

/** Addresses are stored as digests with a key per day, so yesterday’s digest is looked up too. */
function isFirstOfDay(app: App, transaction: Transaction, download: BegunDownload): Promise<boolean> {
  const { mod_id, platform, address } = download;
  const now = app.clock.now();
  const day = Math.floor(now / DAY);
  const digestOn = (date: number) => app.secrets.sign(`downloads/${date}`, address);
  return store.mark(
    transaction,
    { mod_id, platform, address: digestOn(day), date_counted: now },
    { address: digestOn(day - 1), since: now - DAY },
  );
}

/** Removes marks that are older than a day, because they no longer affect the count. */
export async function removeOldMarks(app: App): Promise<void> {
  await store.forgetUntil(app.db, app.clock.now() - DAY);
}
