import { linkedFile } from '../../catalogue/live-files/links.ts';
import type { ModRow } from '../../catalogue/mods/mods.ts';
import { announceArrival, concludeArrival, storageKeyOf } from '../../files/modfiles/bytes.ts';
import { SHOWN } from '../../files/modfiles/live.ts';
import { type CheckedFile, newRow } from '../../files/modfiles/modfiles.ts';
import { modfileBody } from '../../files/modfiles/object.ts';
import { APPROVED, statusOn } from '../../files/modfiles/platforms.ts';
import { awaitScan } from '../../files/modfiles/scans.ts';
import { type FilePlatform, type ModfileRow, platformsOfGame } from '../../files/modfiles/store.ts';
import type { App } from '../../platform/app.ts';
import { inspectArchive, storedSource } from '../../platform/archives/archives.ts';
import { type Bulk, countIdsOn } from '../../platform/database/bulk.ts';
import { writeAfterRemoval } from '../../platform/jobs/removals.ts';
import type { LiveFile } from './mods.ts';
import * as store from './store.ts';

export const BULK_TABLES = ['modfiles', 'modfile_documents', 'modfile_platforms', 'mod_live_files'] as const;

/** A stored archive that many files share, and the token that keeps it from being removed until their rows exist. */
export interface SharedArchive extends CheckedFile {
  readonly arrival: string;
}

/** Stores an archive before the transaction that adds the files. */
export async function shareArchive(app: App, filename: string, bytes: Buffer): Promise<SharedArchive> {
  const incoming = `incoming/${app.random.uuid()}`;
  const stored = await app.storage.put(incoming, bytes);
  const key = storageKeyOf(stored.sha256);
  const arrival = await writeAfterRemoval(app, (transaction) => announceArrival(app, transaction, key));
  await app.storage.move(incoming, key);
  const inspection = await inspectArchive((await storedSource(app.storage, key))!);
  return { ...stored, key, filename, inspection, arrival };
}

type NewMod = Pick<ModRow, 'id' | 'game_id' | 'submitted_by' | 'date_added'>;

export interface FileInBulk {
  readonly row: ModfileRow;
  /** JSON without the download link. */
  readonly body: string;
}

/** Adds one live file to each new mod of a game. The files share a few archives. */
export class ModfilesInBulk {
  readonly #app: App;
  readonly #bulk: Bulk;
  readonly #archives: readonly SharedArchive[];
  readonly #firstId: number;
  readonly #platforms: readonly FilePlatform[];

  private constructor(
    app: App,
    bulk: Bulk,
    archives: readonly SharedArchive[],
    firstId: number,
    platforms: readonly FilePlatform[],
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
    const offered = await platformsOfGame(transaction, gameId);
    const platforms = offered.filter(({ locked }) => locked === 0).map(statusOn);
    return new ModfilesInBulk(app, bulk, archives, await store.nextId(transaction.query, 'modfiles'), platforms);
  }

  get #live(): string[] {
    return this.#platforms.filter(({ status }) => status === APPROVED).map(({ platform }) => platform);
  }

  /** The fields that the file of the mod with this index adds to the mod's documents. */
  fieldsOf(index: number) {
    const modfile_live = this.#firstId + index;
    return () => ({ platforms: this.#live.map((platform) => ({ platform, modfile_live })) });
  }

  /** The file of the mod with this index. */
  fileOf(mod: NewMod, index: number): FileInBulk {
    const row = this.#rowOf(mod, index);
    return { row, body: modfileBody(row, this.#platforms) };
  }

  /** The file as the mod shows it to requests without a platform. */
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
    await store.addFiles(this.#bulk, {
      files: rows,
      documents: files.map(({ row, body }) => ({ modfile_id: row.id, body, sha256: row.sha256 })),
      platforms: rows.flatMap(({ id }) => this.#platforms.map((each) => ({ modfile_id: id, ...each }))),
      live: rows.flatMap(({ id, mod_id }) => live.map((platform) => ({ mod_id, platform, modfile_id: id }))),
    });
  }

  #rowOf(mod: NewMod, index: number): ModfileRow {
    const archive = this.#archives[index % this.#archives.length]!;
    const row = newRow(this.#app, mod, archive, mod.submitted_by, { version: '1.0.0' });
    const released = Number(this.#isShown);
    return { ...row, released, id: this.#firstId + index, date_added: mod.date_added, date_updated: mod.date_added };
  }

  finish(): Promise<void> {
    return countIdsOn(this.#bulk, 'modfiles');
  }
}
