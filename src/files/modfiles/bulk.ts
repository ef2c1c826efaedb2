import { linkedFile } from '../../catalogue/live-files/links.ts';
import type { LiveFile } from '../../catalogue/mods/bulk.ts';
import type { ModRow } from '../../catalogue/mods/mods.ts';
import type { App } from '../../platform/app.ts';
import { inspectArchive, storedSource } from '../../platform/archives/archives.ts';
import { type Bulk, countIdsOn } from '../../platform/database/bulk.ts';
import { announceArrival, concludeArrival, storageKeyOf } from './bytes.ts';
import { SHOWN } from './live.ts';
import { type CheckedFile, newRow } from './modfiles.ts';
import { modfileBody } from './object.ts';
import { APPROVED, statusOn } from './platforms.ts';
import { awaitScan } from './scans.ts';
import * as store from './store.ts';

export const BULK_TABLES = ['modfiles', 'modfile_documents', 'modfile_platforms', 'mod_live_files'] as const;

/** An archive in its place that files in bulk will name, and the announcement of that. */
export interface SharedArchive extends CheckedFile {
  readonly arrival: string;
}

/** Puts an archive where files have their bytes, before the transaction that adds these files. */
export async function shareArchive(app: App, filename: string, bytes: Buffer): Promise<SharedArchive> {
  const incoming = `incoming/${app.random.uuid()}`;
  const stored = await app.storage.put(incoming, bytes);
  const key = storageKeyOf(stored.sha256);
  const arrival = await app.db.write((transaction) => announceArrival(app, transaction, key));
  await app.storage.move(incoming, key);
  const inspection = await inspectArchive((await storedSource(app.storage, key))!);
  return { ...stored, key, filename, inspection, arrival };
}

type NewMod = Pick<ModRow, 'id' | 'game_id' | 'submitted_by' | 'date_added'>;

export interface FileInBulk {
  readonly row: store.ModfileRow;
  /** As JSON, without its link. */
  readonly body: string;
}

/** One live file for each of many new mods of a game, of which the archives are few. */
export class ModfilesInBulk {
  readonly #app: App;
  readonly #bulk: Bulk;
  readonly #archives: readonly SharedArchive[];
  readonly #firstId: number;
  readonly #platforms: readonly store.FilePlatform[];

  private constructor(
    app: App,
    bulk: Bulk,
    archives: readonly SharedArchive[],
    firstId: number,
    platforms: readonly store.FilePlatform[],
  ) {
    this.#app = app;
    this.#bulk = bulk;
    this.#archives = archives;
    this.#firstId = firstId;
    this.#platforms = platforms;
  }

  static async begin(
    app: App,
    bulk: Bulk,
    gameId: number,
    archives: readonly SharedArchive[],
  ): Promise<ModfilesInBulk> {
    const { transaction } = bulk;
    for (const { arrival, key } of archives) {
      await concludeArrival(transaction, arrival);
      await awaitScan(app, transaction, { storage_key: key });
    }
    const offered = await store.platformsOfGame(transaction, gameId);
    const platforms = offered.filter(({ locked }) => locked === 0).map(statusOn);
    return new ModfilesInBulk(app, bulk, archives, await store.nextId(transaction.query), platforms);
  }

  get #live(): string[] {
    return this.#platforms.filter(({ status }) => status === APPROVED).map(({ platform }) => platform);
  }

  /** What the file of the mod with this number adds to the mod's documents. */
  tell(index: number) {
    const modfile_live = this.#firstId + index;
    return () => ({ platforms: this.#live.map((platform) => ({ platform, modfile_live })) });
  }

  /** The file of the mod with this number. */
  fileOf(mod: NewMod, index: number): FileInBulk {
    const row = this.#rowOf(mod, index);
    return { row, body: modfileBody(row, this.#platforms) };
  }

  /** What the mod says of it where no platform is asked for. */
  shown({ row, body }: FileInBulk): LiveFile {
    if (!this.#isShown) return { file_id: null, file_link: null, file_body: null };
    return { file_id: row.id, file_link: linkedFile(row), file_body: body };
  }

  get #isShown(): boolean {
    return this.#platforms.length === 0 || this.#live.length > 0;
  }

  async add(files: readonly FileInBulk[]): Promise<void> {
    const rows = files.map(({ row }) => row);
    const live = this.#isShown ? [...this.#live, SHOWN] : [];
    await store.addMany(this.#bulk, {
      files: rows,
      documents: files.map(({ row, body }) => ({ modfile_id: row.id, body, sha256: row.sha256 })),
      platforms: rows.flatMap(({ id }) => this.#platforms.map((each) => ({ modfile_id: id, ...each }))),
      live: rows.flatMap(({ id, mod_id }) => live.map((platform) => ({ mod_id, platform, modfile_id: id }))),
    });
  }

  #rowOf(mod: NewMod, index: number): store.ModfileRow {
    const archive = this.#archives[index % this.#archives.length]!;
    const row = newRow(this.#app, mod, archive, mod.submitted_by, { version: '1.0.0' });
    const released = Number(this.#isShown);
    return { ...row, released, id: this.#firstId + index, date_added: mod.date_added, date_updated: mod.date_added };
  }

  finish(): Promise<void> {
    return countIdsOn(this.#bulk, 'modfiles');
  }
}
