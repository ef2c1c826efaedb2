import { countDownload } from '../../catalogue/stats/stats.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { countActive } from '../../records/metrics/counting.ts';
import * as store from './store.ts';

export interface BegunDownload {
  readonly mod_id: number;
  readonly game_id: number;
  readonly platform: string;
  /** Of the network that counts as one downloader. */
  readonly address: string;
  /** Who it is, where they are signed in. */
  readonly userId?: number | undefined;
}

const DAY = 86_400;
const GATHER_MS = 1_000;
const GATHERED_MAX = 1_000;

/** Downloads that were begun and are not in the database yet. */
class Gathering {
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

  /** Settles when all that was added so far is counted, or could not be. */
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

const gatherings = new WeakMap<App, Gathering>();

function gatheringOf(app: App): Gathering {
  const known = gatherings.get(app) ?? new Gathering(app);
  gatherings.set(app, known);
  return known;
}

/** Will count the download, within a second and together with others: nobody waits for it. */
export const noteDownload = (app: App, download: BegunDownload): void => gatheringOf(app).add(download);

/** Settles when every download that was noted is counted. */
export const countNoted = (app: App): Promise<void> => gatheringOf(app).write();

/** In the order of mods, so that two processes that count the same ones do not wait for each other in a circle. */
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

/** Addresses are kept as digests of their day, and a day's begins anew for everyone: so yesterday's is looked for too. */
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

/** What is a day old can no longer make a download count less. */
export async function forgetCounted(app: App): Promise<void> {
  await app.db.write(async (transaction) => store.forgetUntil(transaction, app.clock.now() - DAY));
}
