import { existsSync } from 'node:fs';
import { copyFile, link, mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from '../../platform/storage/durable.ts';
import { FORMAT, MANIFEST, partName, ROWS_FOLDER, VERSION } from '../archive/manifest.ts';

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
  /** Where the source's list of events was read to, by the last complete archive and by this one; -1 without a list. */
  event: number;
  nextEvent: number;
  /** When the last complete archive was begun and this one, in Unix seconds. */
  begun: number;
  nextBegun: number;
  /** What the events name since the last archive, or undefined if everything is listed again. */
  changes: Changes | undefined;
  /** Ids that complete archives contain, by kind. */
  seen: Record<string, number[]>;
  /** Whether an archive was fetched with the token of a team member, who sees more. */
  asMember: boolean;
}

/** Mods with events, and those of them that went. */
export interface Changes {
  readonly mods: readonly number[];
  readonly gone: Readonly<Record<string, 'deleted' | 'hidden'>>;
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
    const state: State = { ...newState(source), ...(text !== undefined && (JSON.parse(text) as State)) };
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
    return this.#archiveOf(this.#state.run);
  }

  #archiveOf(run: number): string {
    return join(this.#folder, `archive-${String(run).padStart(5, '0')}`);
  }

  get since(): number {
    return this.#state.since;
  }

  get isFirst(): boolean {
    return this.#state.run === 1;
  }

  /** The last event of the last complete archive, and when that was begun. */
  get mark(): { readonly event: number; readonly begun: number } {
    const { event, begun } = this.#state;
    return { event, begun };
  }

  get changes(): Changes | undefined {
    return this.#state.changes;
  }

  /** The archive begins here: what happens from now on is in events after this one. */
  async begin(nextEvent: number, nextBegun: number, changes: Changes | undefined): Promise<void> {
    // A mod that was kept here is asked for again, and no new event says what became of it.
    const known = changes && { ...changes, gone: { ...this.#state.changes?.gone, ...changes.gone } };
    Object.assign(this.#state, { nextEvent, nextBegun, changes: known });
    await this.put('events', true, {});
  }

  hasSeen(kind: string, id: number): boolean {
    return this.#state.seen[kind]?.includes(id) ?? false;
  }

  see(kind: string, ids: readonly number[]): void {
    this.#state.seen[kind] = [...new Set([...(this.#state.seen[kind] ?? []), ...ids])];
  }

  /** Whether the lists of this run show at least what those of earlier ones did. */
  seesAsMuch(isMember: boolean): boolean {
    this.#state.asMember ||= isMember;
    return isMember || !this.#state.asMember;
  }

  get problems(): readonly string[] {
    return this.#state.problems;
  }

  fileOf(name: string): string {
    return join(this.archive, 'files', name);
  }

  /** Takes a file that an earlier archive contains, if it is still there. */
  async reuse(name: string): Promise<boolean> {
    const file = this.fileOf(name);
    for (let run = this.#state.run - 1; run > 0; run -= 1) {
      const earlier = join(this.#archiveOf(run), 'files', name);
      if (!existsSync(earlier)) continue;
      await mkdir(dirname(file), { recursive: true });
      await link(earlier, file).catch(() => copyFile(earlier, file));
      return true;
    }
    return false;
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
    const parts = Object.entries(rows).filter(([, lines]) => lines.length > 0);
    await Promise.all(
      parts.map(([kind, lines]) => {
        const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('');
        return replaceFile(join(this.archive, partName(kind, this.#state.pages)), text);
      }),
    );
    if (parts.length > 0) await syncDirectory(join(this.archive, ROWS_FOLDER));
    this.#state.done[list] = place;
    await this.#save();
  }

  /** Completes the archive; the next run begins another one. */
  async finish(): Promise<void> {
    const { source, newest, nextEvent, nextBegun } = this.#state;
    const manifest = { format: FORMAT, version: VERSION, source };
    await writeDurably(join(this.archive, MANIFEST), `${JSON.stringify(manifest)}\n`);
    Object.assign(this.#state, { since: newest, event: nextEvent, begun: nextBegun });
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
  event: -1,
  nextEvent: -1,
  begun: 0,
  nextBegun: 0,
  changes: undefined,
  seen: {},
  asMember: false,
});

async function writeDurably(path: string, text: string): Promise<void> {
  await replaceFile(path, text);
  await syncDirectory(join(path, '..'));
}

/** The file has its old or its new content, whenever the process ends; its name needs a sync of the folder. */
async function replaceFile(path: string, text: string): Promise<void> {
  const handle = await open(`${path}.partial`, 'w', 0o600);
  await handle.writeFile(text);
  await handle.sync();
  await handle.close();
  await rename(`${path}.partial`, path);
}
