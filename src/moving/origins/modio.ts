import { existsSync } from 'node:fs';
import { categoryOf } from '../../community/collections/categories.ts';
import { GONE_KIND } from '../archive/manifest.ts';
import { type Fetcher, SourceProblem } from './fetcher.ts';
import { add, type Lines, merged } from './lines.ts';
import { changesAfter, newestEvent } from './modio-events.ts';
import {
  COLLECTION_FIELDS,
  type Collection,
  FILE_FIELDS,
  GAME_FIELDS,
  type Game,
  GUIDE_FIELDS,
  type Guide,
  MOD_FIELDS,
  type Mod,
  type Modfile,
  pick,
  type User,
} from './modio-objects.ts';
import { fetchPerson } from './modio-person.ts';
import { idsOf, type ModioOptions, ModioReader, PAGE } from './modio-reader.ts';
import { fetchStats, statsRow } from './modio-stats.ts';
import { fetchTagOptions, tagId } from './modio-tags.ts';
import type { Changes, WorkFolder } from './work-folder.ts';

/** Servers keep events for 90 days; older marks cannot be relied on. */
const EVENTS_SECONDS = 80 * 24 * 3_600;

const MONETIZATION_ENABLED = 1;

/** Fetches a game through the API alone, as an archive. */
export class ModioOrigin {
  readonly #fetcher: Fetcher;
  readonly #work: WorkFolder;
  readonly #options: ModioOptions;
  readonly #reader: ModioReader;

  constructor(fetcher: Fetcher, work: WorkFolder, options: ModioOptions) {
    this.#fetcher = fetcher;
    this.#work = work;
    this.#options = options;
    this.#reader = new ModioReader(fetcher, work, options);
  }

  async fetch(): Promise<void> {
    if (this.#work.placeOf('archive') === true) return;
    if (this.#work.placeOf('events') !== true) await this.#begin();
    await this.#reader.once('game', () => this.#game());
    const { changes } = this.#work;
    await this.#reader.pages<Mod>('mods', (page) => this.#mods(page), {
      since: changes && this.#reader.since,
      read: (query) => this.#reader.mods(query),
    });
    if (changes) {
      await this.#changedMods(changes);
      await fetchStats(this.#fetcher, this.#work, this.#reader);
    }
    if (this.#reader.wants('guides')) await this.#reader.pages<Guide>('guides', (page) => this.#guides(page));
    if (this.#reader.wants('collections'))
      await this.#reader.pages<Collection>('collections', (page) => this.#collections(page));
    for (const [index, token] of this.#options.peopleTokens.entries())
      await this.#reader.once(`person ${index}`, async () => {
        const person = await fetchPerson(this.#options.fetcherWith(token), this.#options.game);
        if (!person) this.#work.problem('a token of a person is not valid');
        else this.#reader.userRows(person.lines, [person.user]);
        return person?.lines ?? {};
      });
    await this.#work.finish();
  }

  /** Finds out what has changed since the last archive. Without events that tell it, everything is fetched again. */
  async #begin(): Promise<void> {
    const { game, keptMods, now } = this.#options;
    const begun = now();
    const { event, begun: before } = this.#work.mark;
    const isKnown = !this.#work.isFirst && event >= 0 && before > begun - EVENTS_SECONDS;
    const found = isKnown ? await changesAfter(this.#fetcher, game, event) : undefined;
    const last = found?.last ?? (await newestEvent(this.#fetcher, game));
    if (last < 0) this.#options.progress?.('events: the source does not list them, so everything is compared');
    const changes = found && { ...found.changes, mods: [...new Set([...found.changes.mods, ...keptMods])] };
    await this.#work.begin(last, begun, changes);
  }

  /** Mods with events that do not change the date of the mod, such as comments; those that are not listed are gone. */
  async #changedMods({ mods, gone }: Changes): Promise<void> {
    const ids = mods.toSorted((one, other) => one - other);
    for (let last = this.#work.placeOf('changed mods'); last !== true; last = this.#work.placeOf('changed mods')) {
      const after = last;
      const some = ids.filter((id) => id > after).slice(0, PAGE);
      const place = some.length < PAGE ? true : some.at(-1)!;
      await this.#work.put('changed mods', place, some.length === 0 ? {} : await this.#modsAmong(some, gone));
    }
  }

  async #modsAmong(ids: readonly number[], gone: Changes['gone']): Promise<Lines> {
    const { data } = await this.#reader.requireMods({ 'id-in': ids.join(','), _limit: PAGE });
    // The list by date has contained the others.
    const lines = await this.#mods(data.filter(({ date_updated = 0 }) => date_updated < this.#reader.since));
    const there = new Set(data.map(({ id }) => id));
    if (this.#reader.mayCompare)
      for (const id of ids)
        if (!there.has(id)) add(lines, GONE_KIND, { kind: 'mods', id, state: gone[id] ?? 'hidden' });
    return lines;
  }

  async #game(): Promise<Lines> {
    const game = await this.#fetcher.json<Game>(this.#reader.root);
    const rows: Lines = {};
    const members = this.#reader.wants('teams')
      ? await this.#reader.team(rows, 'games', game.id, this.#reader.root)
      : [];
    const owner = game.submitted_by ?? members[0];
    if (!owner) throw new SourceProblem(200, `game ${game.id} names nobody who submitted it`);
    this.#reader.userRows(rows, [owner, ...members]);
    const pictures: Record<string, string | undefined> = {};
    for (const name of ['icon', 'logo', 'header'] as const)
      pictures[`${name}_file`] = await this.#reader.picture(
        game[name]?.original,
        `game-${game.id}-${name}`,
        game['date_updated'],
      );
    add(rows, 'games', {
      ...pick(game, GAME_FIELDS),
      submitted_by: owner.id,
      ...(game.other_urls && { other_urls: JSON.stringify(game.other_urls) }),
      ...(game.theme && { theme: JSON.stringify(game.theme) }),
      ...pictures,
    });
    for (const { platform, label, moderated, locked } of game.platforms ?? [])
      add(rows, 'game_platforms', {
        game_id: game.id,
        platform: platform.toLowerCase(),
        label: label ?? platform,
        moderated: Number(moderated ?? 0),
        locked: Number(locked ?? 0),
      });
    await fetchTagOptions(rows, game, this.#work, this.#reader);
    return rows;
  }

  async #mods(mods: readonly Mod[]): Promise<Lines> {
    const all: Lines[] = [];
    await this.#fetcher.each(mods, async (mod) => {
      const own: Lines = {};
      await this.#mod(own, mod);
      all.push(own);
    });
    return merged(all);
  }

  async #mod(rows: Lines, mod: Mod): Promise<void> {
    const path = `${this.#reader.root}/mods/${mod.id}`;
    const users: User[] = [mod.submitted_by];
    this.#work.changedAt(mod.date_updated ?? 0);
    const logo_file = await this.#reader.picture(mod.logo?.original, `mod-${mod.id}-logo`, mod.date_updated);
    add(rows, 'mods', {
      ...pick(mod, MOD_FIELDS),
      ...this.#price(mod),
      submitted_by: mod.submitted_by.id,
      ...(logo_file && { logo_file }),
    });
    if (mod.stats) add(rows, 'mod_stats', statsRow(mod.id, mod.stats));
    for (const { name, date_added } of mod.tags ?? [])
      add(rows, 'mod_tags', {
        mod_id: mod.id,
        tag_id: tagId(this.#work, name),
        ...(date_added !== undefined && { date_added }),
      });
    const pairs =
      mod.metadata_kvp ?? (await this.#reader.all<{ metakey: string; metavalue: string }>(`${path}/metadatakvp`));
    for (const { metakey, metavalue } of pairs)
      add(rows, 'mod_metadata', { mod_id: mod.id, pair: `${metakey}:${metavalue}` });
    await this.#media(rows, mod);
    if (mod.dependencies)
      for (const each of await this.#reader.all<{ mod_id: number; dependency_depth?: number }>(`${path}/dependencies`))
        if ((each.dependency_depth ?? 0) <= 1)
          add(rows, 'mod_dependencies', { mod_id: mod.id, dependency_id: each.mod_id });
    if (this.#reader.wants('files')) await this.#files(rows, mod);
    if (this.#reader.wants('comments')) users.push(...(await this.#reader.comments(rows, 'mods', mod.id, path)));
    if (this.#reader.wants('teams')) users.push(...(await this.#reader.team(rows, 'mods', mod.id, path)));
    this.#reader.userRows(rows, users);
  }

  /** A price alone keeps others from the files. Selling needs terms, which the author has to accept here. */
  #price({ id, name, price = 0, stock = 0 }: Mod): object {
    if (price === 0) return {};
    this.#work.problem(`mod ${id} (${name}) costs ${price} there: it is not on sale here until its author offers it`);
    return { price, stock, monetization_options: MONETIZATION_ENABLED };
  }

  async #media(rows: Lines, { id, media, date_updated }: Mod): Promise<void> {
    for (const kind of ['youtube', 'sketchfab'] as const)
      for (const [position, value] of (media?.[kind] ?? []).entries())
        add(rows, 'mod_media', { mod_id: id, kind, value, position });
    for (const [position, { original }] of (media?.images ?? []).entries()) {
      const file = await this.#reader.picture(original, `mod-${id}-${position}`, date_updated);
      if (file) add(rows, 'mod_media', { mod_id: id, file, position });
    }
  }

  async #files(rows: Lines, mod: Mod): Promise<void> {
    const there = new Set<number>();
    const files = await this.#reader.whole<Modfile>(`${this.#reader.root}/mods/${mod.id}/files`);
    for (const file of files ?? []) {
      const address = this.#reader.ownAddress(file.download?.binary_url);
      const path = `modfiles/${file.id}.zip`;
      const digests = pick({ ...file.filehash }, ['md5', 'sha256']) as { md5?: string; sha256?: string };
      const isFetched = await this.#reader.reporting(`file ${file.id} of mod ${mod.id}`, async () => {
        if (!address) throw new SourceProblem(200, 'it has no download');
        if (!existsSync(this.#work.fileOf(path)) && !(await this.#work.reuse(path)))
          await this.#fetcher.download(address, this.#work.fileOf(path), digests);
        return true;
      });
      if (!isFetched) continue;
      there.add(file.id);
      add(rows, 'modfiles', {
        ...pick(file, FILE_FIELDS),
        ...digests,
        game_id: mod.game_id,
        submitted_by: mod.submitted_by.id,
        file: path,
        released: 1,
      });
      for (const { platform, status } of file.platforms ?? [])
        add(rows, 'modfile_platforms', { modfile_id: file.id, platform: platform.toLowerCase(), status });
    }
    const live = [
      ...(mod.modfile?.id ? [{ platform: '', modfile_live: mod.modfile.id }] : []),
      ...(mod.platforms ?? []),
    ];
    for (const { platform, modfile_live } of live)
      if (there.has(modfile_live))
        add(rows, 'mod_live_files', { mod_id: mod.id, platform: platform.toLowerCase(), modfile_id: modfile_live });
    const platforms = live.map(({ platform }) => platform.toLowerCase());
    if (files)
      this.#reader.listed(rows, { kind: 'modfiles', of: 'mods', of_id: mod.id, ids: idsOf(files), live: platforms });
  }

  /** No event tells of guides and collections, so each run lists them all and fetches those that are new or changed. */
  #isChanged(kind: string, { id, date_updated }: { readonly id: number; readonly date_updated?: unknown }): boolean {
    if (!this.#work.hasSeen(kind, id) || this.#work.changes === undefined) return true;
    return Number(date_updated ?? 0) >= this.#reader.since;
  }

  async #guides(guides: readonly Guide[]): Promise<Lines> {
    const rows: Lines = {};
    for (const guide of guides) {
      if (this.#isChanged('guides', guide)) await this.#guide(rows, guide);
      const path = `${this.#reader.root}/guides/${guide.id}`;
      const users = this.#reader.wants('comments') ? await this.#reader.comments(rows, 'guides', guide.id, path) : [];
      this.#reader.userRows(rows, [guide.user, ...users]);
    }
    this.#work.see('guides', idsOf(guides));
    return merged([rows]);
  }

  async #guide(rows: Lines, guide: Guide): Promise<void> {
    const logo_file = await this.#reader.picture(guide.logo?.original, `guide-${guide.id}-logo`, guide['date_updated']);
    add(rows, 'guides', {
      ...pick(guide, GUIDE_FIELDS),
      submitted_by: guide.user.id,
      ...(logo_file && { logo_file }),
    });
    for (const { name, date_added } of guide.tags ?? [])
      add(rows, 'guide_tags', { guide_id: guide.id, name, ...(date_added !== undefined && { date_added }) });
  }

  async #collections(collections: readonly Collection[]): Promise<Lines> {
    const rows: Lines = {};
    for (const collection of collections) {
      const path = `${this.#reader.root}/collections/${collection.id}`;
      if (this.#isChanged('collections', collection)) await this.#collection(rows, collection, path);
      const users = this.#reader.wants('comments')
        ? await this.#reader.comments(rows, 'collections', collection.id, path)
        : [];
      this.#reader.userRows(rows, [collection.submitted_by, ...users]);
    }
    this.#work.see('collections', idsOf(collections));
    return merged([rows]);
  }

  async #collection(rows: Lines, collection: Collection, path: string): Promise<void> {
    const { id, logo, submitted_by } = collection;
    const logo_file = await this.#reader.picture(logo?.original, `collection-${id}-logo`, collection['date_updated']);
    const category = categoryOf(collection.category ?? '');
    const tags = collection.tags ?? [];
    add(rows, 'collections', {
      ...pick(collection, COLLECTION_FIELDS),
      ...(category !== undefined && { category }),
      tags: tags.join(),
      submitted_by: submitted_by.id,
      ...(logo_file && { logo_file }),
    });
    for (const tag of tags) add(rows, 'collection_tags', { collection_id: id, tag: tag.toLowerCase() });
    for (const [place, mod] of (await this.#reader.all<{ id: number }>(`${path}/mods`)).entries())
      add(rows, 'collection_mods', { collection_id: id, mod_id: mod.id, place });
  }
}
