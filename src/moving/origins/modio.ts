import { existsSync } from 'node:fs';
import { type Fetcher, SourceProblem } from './fetcher.ts';
import { add, type Lines, merged } from './lines.ts';
import {
  COLLECTION_FIELDS,
  COMMENT_FIELDS,
  type Collection,
  type Comment,
  FILE_FIELDS,
  GAME_FIELDS,
  type Game,
  GUIDE_FIELDS,
  type Guide,
  type List,
  type Member,
  MOD_FIELDS,
  type Mod,
  type Modfile,
  pick,
  STATS_FIELDS,
  type User,
} from './modio-objects.ts';
import { fetchPerson } from './modio-person.ts';
import type { WorkFolder } from './work-folder.ts';

/** What an import fetches besides the mods themselves. */
export const PIECES = ['files', 'media', 'comments', 'teams', 'guides', 'collections'] as const;
export type Piece = (typeof PIECES)[number];

export interface ModioOptions {
  readonly game: number;
  readonly without: ReadonlySet<Piece>;
  /** Tokens of people who agreed that their subscriptions and ratings move. */
  readonly peopleTokens: readonly string[];
  /** How people claim their placeholders: addresses and portal accounts by user id. */
  readonly claims: readonly Claim[];
  readonly fetcherWith: (token: string) => Fetcher;
  readonly progress?: (text: string) => void;
}

export interface Claim {
  readonly user_id: number;
  readonly email?: string;
  readonly portal?: string;
  readonly portal_id?: string;
}

const PAGE = 100;
/** Changes within this time before the newest one are fetched again, because clocks of servers differ. */
const OVERLAP_SECONDS = 300;

/** What a Modstead shows where something has no picture. */
const PLACEHOLDER = /\/files\/placeholder\//;

/** Fetches a game through the API alone, as an archive. */
export class ModioOrigin {
  readonly #fetcher: Fetcher;
  readonly #work: WorkFolder;
  readonly #options: ModioOptions;
  readonly #claims: ReadonlyMap<number, readonly Claim[]>;

  constructor(fetcher: Fetcher, work: WorkFolder, options: ModioOptions) {
    this.#fetcher = fetcher;
    this.#work = work;
    this.#options = options;
    this.#claims = Map.groupBy(options.claims, ({ user_id }) => user_id);
  }

  get #root(): string {
    return `games/${this.#options.game}`;
  }

  #wants(piece: Piece): boolean {
    return !this.#options.without.has(piece);
  }

  async fetch(): Promise<void> {
    if (this.#work.placeOf('archive') === true) return;
    await this.#once('game', () => this.#game());
    await this.#pages<Mod>('mods', `${this.#root}/mods`, this.#changed, (page) => this.#mods(page));
    if (this.#wants('guides'))
      await this.#pages<Guide>('guides', `${this.#root}/guides`, this.#changed, (page) => this.#guides(page));
    if (this.#wants('collections'))
      await this.#pages<Collection>('collections', `${this.#root}/collections`, this.#changed, (page) =>
        this.#collections(page),
      );
    for (const [index, token] of this.#options.peopleTokens.entries())
      await this.#once(`person ${index}`, async () => {
        const person = await fetchPerson(this.#options.fetcherWith(token), this.#options.game);
        if (!person) this.#work.problem('a token of a person is not valid');
        else this.#userRows(person.lines, [person.user]);
        return person?.lines ?? {};
      });
    await this.#work.finish();
  }

  get #changed(): Record<string, number> {
    const { since } = this.#work;
    return since > 0 ? { 'date_updated-min': since - OVERLAP_SECONDS } : {};
  }

  async #once(list: string, work: () => Promise<Lines>): Promise<void> {
    if (this.#work.placeOf(list) === true) return;
    await this.#work.put(list, true, await work());
  }

  /** Page by page in the order of ids, so that what is added meanwhile moves nothing. */
  async #pages<T extends { readonly id: number }>(
    list: string,
    path: string,
    query: Record<string, number>,
    rowsOf: (page: readonly T[]) => Promise<Lines>,
  ): Promise<void> {
    for (let last = this.#work.placeOf(list); last !== true; last = this.#work.placeOf(list)) {
      const answer = await this.#fetcher.optional<List<T>>(path, {
        ...query,
        _sort: 'id',
        'id-min': last + 1,
        _limit: PAGE,
      });
      if (!answer) this.#work.problem(`${list}: the source does not show them`);
      const data = answer?.data ?? [];
      const place = data.length < PAGE ? true : data.at(-1)!.id;
      await this.#work.put(list, place, data.length === 0 ? {} : await rowsOf(data));
      this.#options.progress?.(`${list}: ${place === true ? 'complete' : `up to ${place}`}`);
    }
  }

  /** All entries of a list below something. */
  async #all<T>(path: string): Promise<T[]> {
    const found: T[] = [];
    for (;;) {
      const answer = await this.#fetcher.optional<List<T>>(path, { _limit: PAGE, _offset: found.length });
      if (!answer) return found;
      found.push(...answer.data);
      if (answer.data.length < PAGE) return found;
    }
  }

  /** A server has a host per game; the one that was named answers for it. */
  #ownAddress(address: string | undefined): string | undefined {
    const url = address === undefined ? null : URL.parse(address);
    const { base } = this.#fetcher;
    if (url?.host === `g-${this.#options.game}.${base.host}`) url.host = base.host;
    return url?.href;
  }

  async #picture(address: string | undefined, name: string): Promise<string | undefined> {
    if (!address || !this.#wants('media') || PLACEHOLDER.test(address)) return undefined;
    const path = `pictures/${name}`;
    if (existsSync(this.#work.fileOf(path))) return path;
    return this.#reporting(`picture ${name}`, async () => {
      await this.#fetcher.download(address, this.#work.fileOf(path));
      return path;
    });
  }

  async #reporting<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SourceProblem) && (error as Error).name !== 'EgressError') throw error;
      this.#work.problem(`${what}: ${(error as Error).message}`);
      return undefined;
    }
  }

  #userRows(rows: Lines, users: readonly (User | undefined)[]): void {
    const known = new Map(users.flatMap((user) => (user ? [[user.id, user]] : [])));
    for (const user of known.values()) {
      const claims = this.#claims.get(user.id) ?? [];
      const fields = pick({ ...user }, [
        'id',
        'name_id',
        'username',
        'date_online',
        'date_joined',
        'timezone',
        'language',
      ]);
      const email = claims.find((claim) => claim.email !== undefined)?.email;
      add(rows, 'users', {
        ...fields,
        username: user.username ?? `user ${user.id}`,
        ...(email !== undefined && { email }),
      });
      for (const { portal, portal_id } of claims)
        if (portal !== undefined && portal_id !== undefined)
          add(rows, 'portal_accounts', { user_id: user.id, portal, portal_id });
    }
  }

  async #game(): Promise<Lines> {
    const game = await this.#fetcher.json<Game>(this.#root);
    const rows: Lines = {};
    const team = this.#wants('teams') ? await this.#all<Member>(`${this.#root}/team`) : [];
    const members = team.filter(({ invite_pending }) => invite_pending !== 1);
    const owner = game.submitted_by ?? members[0]?.user;
    if (!owner) throw new SourceProblem(200, `game ${game.id} names nobody who submitted it`);
    this.#userRows(rows, [owner, ...members.map(({ user }) => user)]);
    const pictures: Record<string, string | undefined> = {};
    for (const name of ['icon', 'logo', 'header'] as const)
      pictures[`${name}_file`] = await this.#picture(game[name]?.original, `game-${game.id}-${name}`);
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
    for (const [position, group] of (game.tag_options ?? []).entries()) {
      const group_id = this.#work.idFor('game_tag_groups', group.name);
      const { name, type = 'checkboxes', hidden, locked } = group;
      add(rows, 'game_tag_groups', {
        id: group_id,
        game_id: game.id,
        name,
        type,
        hidden: Number(hidden ?? 0),
        locked: Number(locked ?? 0),
        position,
      });
      for (const [place, tag] of group.tags.entries())
        add(rows, 'game_tags', { id: this.#tagId(tag), group_id, name: tag, position: place });
    }
    for (const member of members) add(rows, 'team_members', memberRow('games', game.id, member));
    return rows;
  }

  #tagId(name: string): number {
    return this.#work.idFor('game_tags', name);
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
    const path = `${this.#root}/mods/${mod.id}`;
    const users: User[] = [mod.submitted_by];
    this.#work.changedAt(mod.date_updated ?? 0);
    const logo_file = await this.#picture(mod.logo?.original, `mod-${mod.id}-logo`);
    add(rows, 'mods', { ...pick(mod, MOD_FIELDS), submitted_by: mod.submitted_by.id, ...(logo_file && { logo_file }) });
    if (mod.stats) add(rows, 'mod_stats', { ...pick(mod.stats, STATS_FIELDS), mod_id: mod.id });
    for (const { name, date_added } of mod.tags ?? [])
      add(rows, 'mod_tags', {
        mod_id: mod.id,
        tag_id: this.#tagId(name),
        ...(date_added !== undefined && { date_added }),
      });
    const pairs = mod.metadata_kvp ?? (await this.#all<{ metakey: string; metavalue: string }>(`${path}/metadatakvp`));
    for (const { metakey, metavalue } of pairs)
      add(rows, 'mod_metadata', { mod_id: mod.id, pair: `${metakey}:${metavalue}` });
    await this.#media(rows, mod);
    if (mod.dependencies)
      for (const each of await this.#all<{ mod_id: number; date_added?: number; dependency_depth?: number }>(
        `${path}/dependencies`,
      ))
        if ((each.dependency_depth ?? 0) <= 1)
          add(rows, 'mod_dependencies', { mod_id: mod.id, dependency_id: each.mod_id });
    if (this.#wants('files')) await this.#files(rows, mod);
    if (this.#wants('comments')) users.push(...(await this.#comments(rows, 'mods', mod.id, path)));
    if (this.#wants('teams'))
      for (const member of await this.#all<Member>(`${path}/team`)) {
        if (member.invite_pending === 1) continue;
        users.push(member.user);
        add(rows, 'team_members', memberRow('mods', mod.id, member));
      }
    this.#userRows(rows, users);
  }

  async #media(rows: Lines, { id, media }: Mod): Promise<void> {
    for (const kind of ['youtube', 'sketchfab'] as const)
      for (const [position, value] of (media?.[kind] ?? []).entries())
        add(rows, 'mod_media', { mod_id: id, kind, value, position });
    for (const [position, { original }] of (media?.images ?? []).entries()) {
      const file = await this.#picture(original, `mod-${id}-${position}`);
      if (file) add(rows, 'mod_media', { mod_id: id, file, position });
    }
  }

  async #files(rows: Lines, mod: Mod): Promise<void> {
    const there = new Set<number>();
    for (const file of await this.#all<Modfile>(`${this.#root}/mods/${mod.id}/files`)) {
      const address = this.#ownAddress(file.download?.binary_url);
      const path = `modfiles/${file.id}.zip`;
      const digests = pick({ ...file.filehash }, ['md5', 'sha256']) as { md5?: string; sha256?: string };
      const isFetched = await this.#reporting(`file ${file.id} of mod ${mod.id}`, async () => {
        if (!address) throw new SourceProblem(200, 'it has no download');
        if (!existsSync(this.#work.fileOf(path)))
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
  }

  async #comments(rows: Lines, resource: string, resource_id: number, path: string): Promise<User[]> {
    const comments = await this.#all<Comment>(`${path}/comments`);
    for (const comment of comments.toSorted((one, other) => one.id - other.id))
      add(rows, 'comments', {
        ...pick(comment, COMMENT_FIELDS),
        resource,
        resource_id,
        game_id: this.#options.game,
        submitted_by: comment.user.id,
      });
    return comments.map(({ user }) => user);
  }

  async #guides(guides: readonly Guide[]): Promise<Lines> {
    const rows: Lines = {};
    for (const guide of guides) {
      const logo_file = await this.#picture(guide.logo?.original, `guide-${guide.id}-logo`);
      add(rows, 'guides', {
        ...pick(guide, GUIDE_FIELDS),
        submitted_by: guide.user.id,
        ...(logo_file && { logo_file }),
      });
      for (const { name, date_added } of guide.tags ?? [])
        add(rows, 'guide_tags', { guide_id: guide.id, name, ...(date_added !== undefined && { date_added }) });
      const path = `${this.#root}/guides/${guide.id}`;
      const users = this.#wants('comments') ? await this.#comments(rows, 'guides', guide.id, path) : [];
      this.#userRows(rows, [guide.user, ...users]);
    }
    return merged([rows]);
  }

  async #collections(collections: readonly Collection[]): Promise<Lines> {
    const rows: Lines = {};
    for (const collection of collections) {
      const path = `${this.#root}/collections/${collection.id}`;
      const logo_file = await this.#picture(collection.logo?.original, `collection-${collection.id}-logo`);
      add(rows, 'collections', {
        ...pick(collection, COLLECTION_FIELDS),
        submitted_by: collection.submitted_by.id,
        ...(logo_file && { logo_file }),
      });
      for (const [place, { id }] of (await this.#all<{ id: number }>(`${path}/mods`)).entries())
        add(rows, 'collection_mods', { collection_id: collection.id, mod_id: id, place });
      const users = this.#wants('comments') ? await this.#comments(rows, 'collections', collection.id, path) : [];
      this.#userRows(rows, [collection.submitted_by, ...users]);
    }
    return merged([rows]);
  }
}

const memberRow = (resource: string, resource_id: number, { user, level, position, date_added }: Member) => ({
  resource,
  resource_id,
  user_id: user.id,
  level,
  position: position ?? '',
  ...(date_added !== undefined && { date_added }),
});
