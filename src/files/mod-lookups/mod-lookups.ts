import { requireGame } from '../../catalogue/games/games.ts';
import type { LinkedFile } from '../../catalogue/live-files/links.ts';
import { levelsOf, visibleAmong } from '../../catalogue/mods/access.ts';
import { gameOfMods } from '../../catalogue/mods/page.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import { storageKeyOf } from '../modfiles/bytes.ts';
import * as store from './store.ts';

/** Of all names and digests of a request together. */
export const LOOKUP_MAX = 500;
/** As deep as recursive lists of dependencies. */
const DEPTH_MAX = 5;
const DEPENDENCIES_MAX = 1_000;
const EDGES_MAX = 10_000;
const DEPENDENCIES_DISALLOWED = 0;

/** What to look up. Digests are in lower case. */
export interface Wanted {
  readonly ids: readonly number[];
  readonly name_ids: readonly string[];
  readonly md5: readonly string[];
  readonly sha256: readonly string[];
}

export interface ModLookup {
  readonly mods: readonly store.FoundMod[];
  readonly dependencies: readonly store.FoundMod[];
  readonly files: readonly (LinkedFile & { readonly body: string })[];
  readonly platforms: ReadonlyMap<number, readonly store.LiveFile[]>;
  /** The ids that each mod directly depends on. */
  readonly needs: ReadonlyMap<number, readonly number[]>;
  readonly missing: Wanted & { readonly dependencies: readonly number[] };
  readonly truncated: boolean;
}

interface Reading {
  readonly language: Language;
  readonly platform: Platform | undefined;
}

/** Mods and files by id, name or digest, with everything that is needed to install them. */
export async function lookUpMods(
  app: App,
  caller: Caller,
  gameId: number,
  wanted: Wanted,
  reading: Reading,
): Promise<ModLookup> {
  await requireGame(app.db, caller, gameId);
  const game = await gameOfMods(app, gameId);
  const named = await store.idsOfNames(app.db.query, gameId, [...new Set(wanted.name_ids)]);
  const matches = [
    ...(await store.filesWith(app.db.query, gameId, 'md5', [...new Set(wanted.md5)])),
    ...(await store.filesWith(app.db.query, gameId, 'storage_key', [...new Set(wanted.sha256)].map(storageKeyOf))),
  ];
  const roots = new Set([...wanted.ids, ...named.map(({ id }) => id), ...matches.map(({ mod_id }) => mod_id)]);
  const platform = game.has_platforms === 1 ? reading.platform : undefined;
  const read = { language: reading.language, platform };
  const found = await visibleMods(app, caller, gameId, [...roots], read);
  const mods = new Map(found.map((mod) => [mod.id, mod]));
  const files = await offeredTo(
    app,
    caller,
    gameId,
    matches.filter(({ mod_id }) => mods.has(mod_id)),
  );
  const asked = requested(wanted, named, files, mods);
  const walk =
    game.dependency_option === DEPENDENCIES_DISALLOWED
      ? NO_DEPENDENCIES
      : await walkDependencies(
          app,
          asked.filter(({ needs }) => needs === 1).map(({ id }) => id),
          asked.map(({ id }) => id),
        );
  const below = [...walk.ids].sort((one, other) => one - other);
  const dependencies = (await visibleMods(app, caller, gameId, below, read)).sort(byId);
  const live =
    game.has_platforms === 1
      ? await store.liveFilesOf(
          app.db,
          [...asked, ...dependencies].map(({ id }) => id),
        )
      : [];
  return {
    mods: asked,
    dependencies,
    files: otherFiles(gameId, files, live, platform, [...asked, ...dependencies]),
    platforms: Map.groupBy(live, ({ mod_id }) => mod_id),
    needs: walk.needs,
    missing: missingOf(wanted, named, files, mods, below, dependencies),
    truncated: walk.truncated,
  };
}

const byId = ({ id: one }: { id: number }, { id: other }: { id: number }) => one - other;

async function visibleMods(
  app: App,
  caller: Caller,
  gameId: number,
  ids: readonly number[],
  read: { readonly language: string; readonly platform: string | undefined },
): Promise<store.FoundMod[]> {
  const found = await store.modsWith(app.db, ids, read);
  const visible = await visibleAmong(app.db, caller, gameId, found);
  return found.filter(({ id }) => visible.has(id));
}

/** Files that were never live, or were withdrawn, exist only for the teams of the mod and its game. */
async function offeredTo(app: App, caller: Caller, gameId: number, matches: readonly store.FoundFile[]) {
  const files = new Map<number, store.FoundFile>();
  for (const file of matches) {
    const isMember = async () => {
      const levels = await levelsOf(app.db, caller, { id: file.mod_id, game_id: gameId });
      return levels.mod > 0 || levels.game > 0;
    };
    if (file.offered === 1 || (caller.kind === 'user' && (await isMember()))) files.set(file.id, file);
  }
  return [...files.values()];
}

type Named = readonly { readonly id: number; readonly name_id: string }[];

/** The visible mods that the request names: a digest of a hidden file names no mod. */
function requested(
  wanted: Wanted,
  named: Named,
  files: readonly store.FoundFile[],
  mods: ReadonlyMap<number, store.FoundMod>,
): store.FoundMod[] {
  const ids = new Set([...wanted.ids, ...named.map(({ id }) => id), ...files.map(({ mod_id }) => mod_id)]);
  const inOrder = new Float64Array([...ids]).sort();
  return [...inOrder].map((id) => mods.get(id)).filter((mod) => mod !== undefined);
}

interface Walk {
  /** The mods below the requested ones, without those. */
  readonly ids: ReadonlySet<number>;
  readonly needs: ReadonlyMap<number, readonly number[]>;
  readonly truncated: boolean;
}
const NO_DEPENDENCIES: Walk = { ids: new Set(), needs: new Map(), truncated: false };

/** Starts at the `roots` that depend on others; none of the `requested` mods is below them. */
async function walkDependencies(app: App, roots: readonly number[], requested: readonly number[]): Promise<Walk> {
  const ids = new Set<number>();
  const needs = new Map<number, number[]>();
  const seen = new Set(requested);
  let [level, edges, truncated] = [roots, 0, false];
  for (let depth = 0; level.length > 0; depth++) {
    const rows = await store.dependenciesOf(app.db, level, EDGES_MAX - edges + 1);
    edges += rows.length;
    const next: number[] = [];
    for (const { mod_id, dependency_id } of rows) {
      needs.set(mod_id, [...(needs.get(mod_id) ?? []), dependency_id]);
      if (seen.has(dependency_id)) continue;
      if (depth >= DEPTH_MAX || ids.size >= DEPENDENCIES_MAX) truncated = true;
      else {
        seen.add(dependency_id);
        ids.add(dependency_id);
        next.push(dependency_id);
      }
    }
    truncated ||= edges > EDGES_MAX;
    level = truncated && edges > EDGES_MAX ? [] : next;
  }
  return { ids, needs, truncated };
}

/** Without the files that their mods show already. */
function otherFiles(
  game_id: number,
  files: readonly store.FoundFile[],
  live: readonly store.LiveFile[],
  platform: string | undefined,
  mods: readonly store.FoundMod[],
): (LinkedFile & { body: string })[] {
  const shown = new Set(mods.map(({ file_id }) => file_id));
  const asked = platform === undefined ? live : live.filter((file) => file.platform === platform);
  const others = asked.filter(({ id }) => !shown.has(id)).map((file) => ({ ...file, game_id }));
  const byFile = new Map(
    [...others, ...files].map(({ id, mod_id, sha256, body }) => [id, { id, mod_id, game_id, sha256, body }]),
  );
  return [...byFile.values()].sort(byId);
}

function missingOf(
  wanted: Wanted,
  named: Named,
  files: readonly store.FoundFile[],
  mods: ReadonlyMap<number, store.FoundMod>,
  below: readonly number[],
  dependencies: readonly store.FoundMod[],
): ModLookup['missing'] {
  const names = new Set(named.filter(({ id }) => mods.has(id)).map(({ name_id }) => name_id));
  const [md5, sha256] = [new Set(files.map((file) => file.md5)), new Set(files.map((file) => file.sha256))];
  const shown = new Set(dependencies.map(({ id }) => id));
  const without = <T>(asked: readonly T[], isFound: (each: T) => boolean) =>
    [...new Set(asked)].filter((each) => !isFound(each));
  return {
    ids: without(wanted.ids, (id) => mods.has(id)),
    name_ids: without(wanted.name_ids, (name) => names.has(name)),
    md5: without(wanted.md5, (digest) => md5.has(digest)),
    sha256: without(wanted.sha256, (digest) => sha256.has(digest)),
    dependencies: without(below, (id) => shown.has(id)),
  };
}
