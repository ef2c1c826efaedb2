import { type Client, items, type Modfile, type ModLookup } from '../../../client/src/index.ts';

/** Which mods to mirror. */
export type Selection =
  | { readonly kind: 'collection'; readonly id: number }
  | { readonly kind: 'mods'; readonly mods: readonly (number | string)[] }
  | { readonly kind: 'subscriptions' };

export interface WantedMod {
  readonly id: number;
  readonly nameId: string;
  readonly file: Modfile;
}

/** Why a mod is missing; scripts depend on the codes. */
export type MissingCode = 'no_file' | 'not_found' | 'dependency_not_found';

export interface Wanted {
  readonly mods: readonly WantedMod[];
  /** Mods that cannot be mirrored. */
  readonly missing: readonly { readonly mod: number | string; readonly code: MissingCode }[];
}

const PER_LOOKUP = 500;

/** The selected mods and the mods that they depend on, with their live files. */
export async function findWanted(
  client: Client,
  gameId: number,
  selection: Selection,
  signal: AbortSignal,
): Promise<Wanted> {
  const selected = await namesOf(client, gameId, selection, signal);
  const mods = new Map<number, WantedMod>();
  const missing = new Map<number | string, MissingCode>();
  const seen = new Set<number | string>();
  for (let left = selected; left.length > 0; ) {
    const some = left.slice(0, PER_LOOKUP);
    for (const name of some) seen.add(name);
    const found = await lookUp(client, gameId, some, signal);
    for (const mod of [...found.mods, ...found.dependencies]) {
      seen.add(mod.id);
      if ('id' in mod.modfile) mods.set(mod.id, { id: mod.id, nameId: mod.name_id, file: mod.modfile as Modfile });
      else missing.set(mod.id, 'no_file');
    }
    for (const name of [...found.not_found.ids, ...found.not_found.name_ids]) missing.set(name, 'not_found');
    for (const id of found.not_found.dependencies) {
      seen.add(id);
      missing.set(id, 'dependency_not_found');
    }
    // An answer with too many dependencies leaves some out.
    const more = [...found.mods, ...found.dependencies].flatMap(({ dependencies }) => dependencies);
    left = [...new Set([...left.slice(PER_LOOKUP), ...more])].filter((name) => !seen.has(name));
  }
  return {
    mods: [...mods.values()].sort((one, other) => one.id - other.id),
    missing: [...missing].map(([mod, code]) => ({ mod, code })),
  };
}

async function namesOf(
  client: Client,
  gameId: number,
  selection: Selection,
  signal: AbortSignal,
): Promise<readonly (number | string)[]> {
  if (selection.kind === 'mods') return [...new Set(selection.mods)];
  const page = { game_id: gameId, _limit: 100 };
  const ids: number[] = [];
  const listed =
    selection.kind === 'collection'
      ? items(
          client.with({ platform: undefined }),
          'GET /games/{game_id}/collections/{collection_id}/mods',
          { ...page, collection_id: selection.id },
          { signal },
        )
      : items(client.with({ platform: undefined }), 'GET /me/subscribed', page, { signal });
  for await (const { id } of listed) ids.push(id);
  return ids;
}

function lookUp(
  client: Client,
  gameId: number,
  names: readonly (number | string)[],
  signal: AbortSignal,
): Promise<ModLookup> {
  const ids = names.filter((name) => typeof name === 'number');
  const name_ids = names.filter((name) => typeof name === 'string');
  const body = { ...(ids.length > 0 && { ids }), ...(name_ids.length > 0 && { name_ids }) };
  return client.call('POST /games/{game_id}/mods/lookup', { game_id: gameId, ...body }, { signal, idempotent: true });
}
