import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { syncDirectory } from '../../platform/storage/durable.ts';
import { FORMAT, MANIFEST, partName, VERSION } from '../archive/manifest.ts';

interface State {
  readonly source: string;
  /** The number of the archive that is being fetched, or was last. */
  run: number;
  isComplete: boolean;
  /** The date of the newest change of all complete archives. */
  since: number;
  /** The same of the archive that is being fetched. */
  newest: number;
  /** How far each list of this archive was fetched. */
  done: Record<string, number | true>;
  pages: number;
  /** Ids of what has none at the source, by kind and name. */
  ids: Record<string, Record<string, number>>;
  problems: string[];
}

const PROBLEMS_MAX = 10_000;

/**
 * The folder of an importer: an archive per run, and the state that lets a killed run continue and the next one fetch
 * changes alone.
 */
export class WorkFolder {
  readonly #folder: string;
  #state: State;

  private constructor(folder: string, state: State) {
    this.#folder = folder;
    this.#state = state;
  }

  static async open(folder: string, source: string): Promise<WorkFolder> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const text = await readFile(join(folder, 'state.json'), 'utf8').catch(() => undefined);
    const state = text === undefined ? newState(source) : (JSON.parse(text) as State);
    if (state.source !== source) throw new Error(`${folder} is the folder of an import from ${state.source}`);
    if (state.isComplete)
      Object.assign(state, {
        run: state.run + 1,
        isComplete: false,
        newest: state.since,
        done: {},
        pages: 0,
        problems: [],
      });
    const work = new WorkFolder(folder, state);
    await mkdir(join(work.archive, 'rows'), { recursive: true, mode: 0o700 });
    await mkdir(join(work.archive, 'files'), { recursive: true, mode: 0o700 });
    return work;
  }

  /** The archive of this run. */
  get archive(): string {
    return join(this.#folder, `archive-${String(this.#state.run).padStart(5, '0')}`);
  }

  get since(): number {
    return this.#state.since;
  }

  get problems(): readonly string[] {
    return this.#state.problems;
  }

  fileOf(name: string): string {
    return join(this.archive, 'files', name);
  }

  /** How far a list was fetched; `true` for all of it. */
  placeOf(list: string): number | true {
    return this.#state.done[list] ?? 0;
  }

  problem(text: string): void {
    if (this.#state.problems.length < PROBLEMS_MAX) this.#state.problems.push(text);
  }

  changedAt(date: number): void {
    this.#state.newest = Math.max(this.#state.newest, date);
  }

  /** The id of something that has none at the source: the same in every run. */
  idFor(kind: string, name: string): number {
    this.#state.ids[kind] ??= {};
    const ids = this.#state.ids[kind];
    ids[name] ??= Object.keys(ids).length + 1;
    return ids[name];
  }

  /** Everything that got an id, in the order of the ids. */
  namesOf(kind: string): [name: string, id: number][] {
    return Object.entries(this.#state.ids[kind] ?? {}).sort(([, one], [, other]) => one - other);
  }

  /** Stores the rows of a page together with its place: after a kill the page is either complete or fetched again. */
  async put(list: string, place: number | true, rows: Readonly<Record<string, readonly object[]>>): Promise<void> {
    this.#state.pages += 1;
    for (const [kind, lines] of Object.entries(rows)) {
      if (lines.length === 0) continue;
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
      await writeDurably(join(this.archive, partName(kind, this.#state.pages)), text);
    }
    this.#state.done[list] = place;
    await this.#save();
  }

  /** Completes the archive; the next run begins another one. */
  async finish(): Promise<void> {
    const { source, newest } = this.#state;
    const manifest = { format: FORMAT, version: VERSION, source };
    await writeDurably(join(this.archive, MANIFEST), `${JSON.stringify(manifest)}\n`);
    this.#state.since = newest;
    this.#state.done['archive'] = true;
    await this.#save();
  }

  /** The archive was imported. */
  async imported(): Promise<void> {
    this.#state.isComplete = true;
    await this.#save();
  }

  #save(): Promise<void> {
    return writeDurably(join(this.#folder, 'state.json'), JSON.stringify(this.#state));
  }
}

const newState = (source: string): State => ({
  source,
  run: 1,
  isComplete: false,
  since: 0,
  newest: 0,
  done: {},
  pages: 0,
  ids: {},
  problems: [],
});

async function writeDurably(path: string, text: string): Promise<void> {
  const handle = await open(`${path}.partial`, 'w', 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await handle.close();
  await rename(`${path}.partial`, path);
  await syncDirectory(join(path, '..'));
}
