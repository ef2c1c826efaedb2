import { existsSync } from 'node:fs';
import { escapeHtml } from '../../platform/text/markup.ts';
import { type Fetcher, SourceProblem } from './fetcher.ts';
import { add, type Lines, merged } from './lines.ts';
import type { WorkFolder } from './work-folder.ts';

/** A package of a site that is no server of this API. Keys are names of the site, which has no numbers. */
export interface Package {
  readonly key: string;
  readonly author: string;
  readonly name: string;
  readonly summary: string;
  /** Plain text or Markdown. */
  readonly description: string;
  readonly dateAdded: number;
  readonly dateUpdated: number;
  readonly homepage?: string | undefined;
  readonly tags: readonly string[];
  readonly isMature?: boolean;
  readonly downloads: number;
  /** Addresses of pictures, the most important one first. */
  readonly pictures: readonly string[];
  /** Keys of packages. */
  readonly dependencies: readonly string[];
  /** Newest first. */
  readonly versions: readonly Version[];
}

export interface Version {
  readonly key: string;
  readonly number: string;
  readonly changelog: string;
  readonly date: number;
  readonly url: string;
  readonly filename: string;
  readonly digests?: { readonly sha512?: string } | undefined;
}

export interface PackageOptions {
  /** The name of the game that the packages are for. */
  readonly game: string;
  readonly isLatestOnly: boolean;
  readonly withFiles: boolean;
  readonly progress?: (text: string) => void;
}

/** The packages of a site from a place on, page by page, with the place after each page. */
export type Pages = (
  from: number,
) => AsyncIterable<{ readonly packages: readonly Package[]; readonly next: number | true }>;

const GAME_ID = 1;
const SUMMARY_MAX = 250;
const MATURE = 8;
const TAG_GROUP = 'Categories';

/** Writes the packages of a site as an archive: one game, with a mod per package. */
export async function fetchPackages(
  fetcher: Fetcher,
  work: WorkFolder,
  pages: Pages,
  options: PackageOptions,
): Promise<void> {
  if (work.placeOf('archive') === true) return;
  const origin = new PackageOrigin(fetcher, work, options);
  const from = work.placeOf('packages');
  if (from !== true)
    for await (const { packages, next } of pages(from)) {
      const changed = packages.filter(({ dateUpdated }) => dateUpdated >= work.since);
      await work.put('packages', next, await origin.rowsOf(changed));
      options.progress?.(next === true ? 'packages: complete' : `packages: ${next}`);
    }
  if (work.placeOf('game') !== true) await work.put('game', true, origin.gameRows());
  await work.finish();
}

class PackageOrigin {
  readonly #fetcher: Fetcher;
  readonly #work: WorkFolder;
  readonly #options: PackageOptions;

  constructor(fetcher: Fetcher, work: WorkFolder, options: PackageOptions) {
    this.#fetcher = fetcher;
    this.#work = work;
    this.#options = options;
  }

  /** Written last, when all tags are known. */
  gameRows(): Lines {
    const owner = this.#work.idFor('users', `import from ${this.#fetcher.base.host}`);
    const group_id = this.#work.idFor('game_tag_groups', TAG_GROUP);
    const tags = this.#work.namesOf('game_tags');
    return {
      users: [{ id: owner, username: `Import from ${this.#fetcher.base.host}` }],
      games: [{ id: GAME_ID, name: this.#options.game, submitted_by: owner }],
      game_tag_groups: tags.length === 0 ? [] : [{ id: group_id, game_id: GAME_ID, name: TAG_GROUP }],
      game_tags: tags.map(([name, id], position) => ({ id, group_id, name, position })),
    };
  }

  async rowsOf(packages: readonly Package[]): Promise<Lines> {
    const all: Lines[] = [];
    await this.#fetcher.each(packages, async (each) => {
      const own: Lines = {};
      await this.#package(own, each);
      all.push(own);
    });
    return merged(all);
  }

  async #package(rows: Lines, each: Package): Promise<void> {
    const mod_id = this.#work.idFor('mods', each.key);
    const submitted_by = this.#work.idFor('users', each.author);
    this.#work.changedAt(each.dateUpdated);
    add(rows, 'users', { id: submitted_by, username: each.author });
    add(rows, 'mods', {
      id: mod_id,
      game_id: GAME_ID,
      submitted_by,
      name: each.name,
      summary: each.summary.slice(0, SUMMARY_MAX),
      description: paragraphs(each.description),
      date_added: each.dateAdded,
      date_updated: each.dateUpdated,
      date_live: each.dateAdded,
      ...(each.isMature && { maturity_option: MATURE }),
      ...(each.homepage && /^https?:\/\//.test(each.homepage) && { homepage_url: each.homepage }),
    });
    add(rows, 'mod_stats', { mod_id, downloads_total: each.downloads });
    for (const tag of new Set(each.tags)) add(rows, 'mod_tags', { mod_id, tag_id: this.#work.idFor('game_tags', tag) });
    for (const key of new Set(each.dependencies))
      add(rows, 'mod_dependencies', { mod_id, dependency_id: this.#work.idFor('mods', key) });
    if (!this.#options.withFiles) return;
    await this.#pictures(rows, mod_id, each.pictures);
    await this.#versions(rows, mod_id, submitted_by, each);
  }

  async #pictures(rows: Lines, mod_id: number, pictures: readonly string[]): Promise<void> {
    for (const [position, address] of pictures.entries()) {
      const file = `pictures/${mod_id}-${position}`;
      if (await this.#fetched(`picture ${address}`, address, file)) add(rows, 'mod_media', { mod_id, file, position });
    }
  }

  async #versions(rows: Lines, mod_id: number, submitted_by: number, { versions }: Package): Promise<void> {
    let isFirst = true;
    for (const version of this.#options.isLatestOnly ? versions.slice(0, 1) : versions) {
      const id = this.#work.idFor('modfiles', version.key);
      const file = `packages/${id}.zip`;
      if (!(await this.#fetched(`version ${version.key}`, version.url, file, version.digests))) continue;
      const { number, changelog, date, filename } = version;
      const dates = { date_added: date, date_updated: date };
      add(rows, 'modfiles', {
        id,
        game_id: GAME_ID,
        mod_id,
        submitted_by,
        file,
        filename,
        version: number,
        changelog,
        released: 1,
        ...dates,
      });
      if (isFirst) add(rows, 'mod_live_files', { mod_id, modfile_id: id });
      isFirst = false;
    }
  }

  async #fetched(what: string, address: string, name: string, digests: Version['digests'] = {}): Promise<boolean> {
    const file = this.#work.fileOf(name);
    try {
      if (!existsSync(file)) await this.#fetcher.download(address, file, digests);
      return true;
    } catch (error) {
      if (!(error instanceof SourceProblem) && (error as Error).name !== 'EgressError') throw error;
      this.#work.problem(`${what}: ${(error as Error).message}`);
      return false;
    }
  }
}

/** Markdown stays readable as text; an import does not guess at a dialect. */
const paragraphs = (text: string): string =>
  text
    .split(/\n\s*\n/)
    .map((each) => each.trim())
    .filter((each) => each !== '')
    .map((each) => `<p>${escapeHtml(each).replaceAll('\n', '<br>')}</p>`)
    .join('');

export const secondsOf = (date: unknown): number => Math.max(0, Math.floor(Date.parse(String(date)) / 1_000) || 0);
