import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { LISTED_KIND, type Listed } from '../archive/manifest.ts';
import { type Fetcher, type Query, SourceProblem } from './fetcher.ts';
import { add, type Lines } from './lines.ts';
import { COMMENT_FIELDS, type Comment, type List, type Member, type Mod, pick, type User } from './modio-objects.ts';
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
  /** Mods that earlier imports left as they are, and that are therefore fetched again. */
  readonly keptMods: readonly number[];
  /** Whether the requests carry the token of a team member. */
  readonly isMember: boolean;
  /** Unix seconds. */
  readonly now: () => number;
  readonly progress?: (text: string) => void;
}

export interface Claim {
  readonly user_id: number;
  readonly email?: string;
  readonly portal?: string;
  readonly portal_id?: string;
}

export const PAGE = 100;
/** Changes within this time before the newest one are fetched again, because clocks of servers differ. */
const OVERLAP_SECONDS = 300;

/** What a Modstead shows where something has no picture. */
const PLACEHOLDER = /\/files\/placeholder\//;

interface Paging<T> {
  /** Lists what has changed since this date alone. */
  readonly since?: number | undefined;
  readonly read?: (query: Query) => Promise<List<T> | undefined>;
}

/** Reads lists, people and pictures of a game through the API. */
export class ModioReader {
  readonly #fetcher: Fetcher;
  readonly #work: WorkFolder;
  readonly #options: ModioOptions;
  readonly #claims: ReadonlyMap<number, readonly Claim[]>;
  #asksHidden: boolean;

  constructor(fetcher: Fetcher, work: WorkFolder, options: ModioOptions) {
    this.#fetcher = fetcher;
    this.#work = work;
    this.#options = options;
    this.#claims = Map.groupBy(options.claims, ({ user_id }) => user_id);
    this.#asksHidden = options.isMember;
  }

  get root(): string {
    return `games/${this.#options.game}`;
  }

  wants(piece: Piece): boolean {
    return !this.#options.without.has(piece);
  }

  get since(): number {
    return Math.max(0, this.#work.since - OVERLAP_SECONDS);
  }

  get mayCompare(): boolean {
    return this.#work.seesAsMuch(this.#options.isMember);
  }

  /** Lists contain free, accepted and public mods alone unless a request asks for others, as members of the team may. */
  async mods(query: Query): Promise<List<Mod> | undefined> {
    const path = `${this.root}/mods`;
    const all = { revenue_type: 2, ...query };
    if (this.#asksHidden) {
      const answer = await this.#fetcher.unlessRefused<List<Mod>>(path, {
        'status-in': '0,1',
        'visible-in': '0,1',
        ...all,
      });
      if (answer) return answer;
      this.#asksHidden = false;
      this.#work.problem('mods that are hidden or not accepted: the source does not list them for this token');
    }
    return this.#fetcher.optional<List<Mod>>(path, all);
  }

  /** As `mods`, where an earlier page showed that there is such a list. */
  async requireMods(query: Query): Promise<List<Mod>> {
    const answer = await this.mods(query);
    if (!answer) throw new SourceProblem(403, 'the source does not list its mods any more');
    return answer;
  }

  async once(list: string, work: () => Promise<Lines>): Promise<void> {
    if (this.#work.placeOf(list) === true) return;
    await this.#work.put(list, true, await work());
  }

  /**
   * Page by page in the order of ids, so that what is added meanwhile moves nothing. Without `since` the list is
   * complete: what an earlier archive brought and it lacks is gone.
   */
  async pages<T extends { readonly id: number }>(
    list: string,
    rowsOf: (page: readonly T[]) => Promise<Lines>,
    { since, read }: Paging<T> = {},
  ): Promise<void> {
    const readPage = read ?? ((query: Query) => this.#fetcher.optional<List<T>>(`${this.root}/${list}`, query));
    for (let last = this.#work.placeOf(list); last !== true; last = this.#work.placeOf(list)) {
      const answer = await readPage({
        ...(since !== undefined && { 'date_updated-min': since }),
        _sort: 'id',
        'id-min': last + 1,
        _limit: PAGE,
      });
      if (!answer) this.#work.problem(`${list}: the source does not show them`);
      const data = answer?.data ?? [];
      const place = data.length < PAGE ? true : data.at(-1)!.id;
      const rows = data.length === 0 ? {} : await rowsOf(data);
      const range = { after: last, ...(place !== true && { until: place }) };
      if (answer && since === undefined)
        this.listed(rows, { kind: list, of: 'games', of_id: this.#options.game, ...range, ids: idsOf(data) });
      await this.#work.put(list, place, rows);
      this.#options.progress?.(`${list}: ${place === true ? 'complete' : `up to ${place}`}`);
    }
  }

  /** Says that a list is complete: what an earlier archive brought and it lacks is gone. */
  listed(rows: Lines, listed: Listed): void {
    if (this.mayCompare) add(rows, LISTED_KIND, listed);
  }

  /** All entries of a list below something; undefined if the source does not show all of it. */
  async whole<T extends { readonly id: number }>(path: string): Promise<T[] | undefined> {
    const found: T[] = [];
    for (;;) {
      const query = { _sort: 'id', _limit: PAGE, ...(found.length > 0 && { 'id-min': found.at(-1)!.id + 1 }) };
      const answer = await this.#fetcher.optional<List<T>>(path, query);
      if (!answer) return undefined;
      found.push(...answer.data);
      if (answer.data.length < PAGE) return found;
    }
  }

  async all<T>(path: string): Promise<T[]> {
    const found: T[] = [];
    for (;;) {
      const answer = await this.#fetcher.optional<List<T>>(path, { _limit: PAGE, _offset: found.length });
      if (!answer) return found;
      found.push(...answer.data);
      if (answer.data.length < PAGE) return found;
    }
  }

  /** The accepted members of a team. */
  async team(rows: Lines, of: 'games' | 'mods', of_id: number, path: string): Promise<User[]> {
    const team = await this.whole<Member>(`${path}/team`);
    const members = (team ?? []).filter(({ invite_pending }) => invite_pending !== 1);
    for (const member of members) add(rows, 'team_members', memberRow(of, of_id, member));
    if (team) this.listed(rows, { kind: 'team_members', of, of_id, ids: idsOf(members) });
    return members.map(({ user }) => user);
  }

  /** A server has a host per game; the one that was named answers for it. */
  ownAddress(address: string | undefined): string | undefined {
    const url = address === undefined ? null : URL.parse(address);
    const { base } = this.#fetcher;
    if (url?.host === `g-${this.#options.game}.${base.host}`) url.host = base.host;
    return url?.href;
  }

  /** `date` is that of the last change of its owner: another picture may have the same address. */
  async picture(address: string | undefined, name: string, date: unknown): Promise<string | undefined> {
    if (!address || !this.wants('media') || PLACEHOLDER.test(address)) return undefined;
    const version = createHash('sha1')
      .update(`${address.replace(/[?#].*$/, '')} ${date}`)
      .digest('hex')
      .slice(0, 12);
    const path = `pictures/${name}-${version}`;
    if (existsSync(this.#work.fileOf(path))) return path;
    return this.reporting(`picture ${name}`, async () => {
      await this.#fetcher.download(address, this.#work.fileOf(path));
      return path;
    });
  }

  async reporting<T>(what: string, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof SourceProblem) && (error as Error).name !== 'EgressError') throw error;
      this.#work.problem(`${what}: ${(error as Error).message}`);
      return undefined;
    }
  }

  userRows(rows: Lines, users: readonly (User | undefined)[]): void {
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

  async comments(rows: Lines, resource: string, resource_id: number, path: string): Promise<User[]> {
    const comments = await this.whole<Comment>(`${path}/comments`);
    if (comments) this.listed(rows, { kind: 'comments', of: resource, of_id: resource_id, ids: idsOf(comments) });
    for (const comment of comments ?? [])
      add(rows, 'comments', {
        ...pick(comment, COMMENT_FIELDS),
        resource,
        resource_id,
        game_id: this.#options.game,
        submitted_by: comment.user.id,
      });
    return (comments ?? []).map(({ user }) => user);
  }
}

export const idsOf = (entries: readonly { readonly id: number }[]): number[] => entries.map(({ id }) => id);

const memberRow = (resource: string, resource_id: number, { id, user, level, position, date_added }: Member) => ({
  id,
  resource,
  resource_id,
  user_id: user.id,
  level,
  position: position ?? '',
  ...(date_added !== undefined && { date_added }),
});
