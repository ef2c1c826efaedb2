import { requireGame } from '../../catalogue/games/games.ts';
import { levelsOf, requireMod } from '../../catalogue/mods/mods.ts';
import { requireCollection } from '../../community/collections/collections.ts';
import { requireGuide } from '../../community/guides/guides.ts';
import { requireUser, type UserRow } from '../../people/users/users.ts';
import { type Caller, NOBODY } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

// Lookups by id alone. Content that the caller may not see gets the same error as missing content.

const FINDERS = {
  games: { find: store.game, missing: 'GAME_NOT_FOUND' },
  mods: { find: store.mod, missing: 'MOD_NOT_FOUND' },
  files: { find: store.file, missing: 'MODFILE_NOT_FOUND' },
} as const;

export type OwnedResource = keyof typeof FINDERS;
export const OWNED_RESOURCES = Object.keys(FINDERS) as [OwnedResource, ...OwnedResource[]];

async function find(app: App, caller: Caller, resource: OwnedResource, id: number): Promise<store.Found> {
  const { find, missing } = FINDERS[resource];
  const found = await find(app.db, id);
  if (!found) throw new ApiError(missing);
  await unlessRefused(missing, () =>
    resource === 'games'
      ? requireGame(app.db, caller, found.game_id)
      : requireMod(app.db, caller, found.game_id, found.mod_id),
  );
  if (found.offered === 0 && !(await isMember(app, caller, found))) throw new ApiError(missing);
  return found;
}

async function isMember(app: App, caller: Caller, { game_id, mod_id }: store.Found): Promise<boolean> {
  const { mod, game } = await levelsOf(app.db, caller, { id: mod_id, game_id });
  return mod > 0 || game > 0;
}

/** A specific error would reveal that hidden content exists. */
async function unlessRefused(missing: ErrorName, ask: () => Promise<unknown>): Promise<void> {
  try {
    await ask();
  } catch (cause) {
    throw cause instanceof ApiError ? new ApiError(missing, { cause }) : cause;
  }
}

/** The submitter of a game, a mod or a file. */
export async function ownerOf(app: App, caller: Caller, resource: OwnedResource, id: number): Promise<UserRow> {
  const { submitted_by } = await find(app, caller, resource, id);
  return requireUser(app, submitted_by);
}

const pages: Record<string, (app: App, id: number) => Promise<string>> = {
  games: async (app, id) => app.addresses.game((await find(app, NOBODY, 'games', id)).game_name_id),
  mods: async (app, id) => addressOfMod(app, await find(app, NOBODY, 'mods', id)),
  files: async (app, id) => addressOfMod(app, await find(app, NOBODY, 'files', id)),
  guides: addressOfGuide,
  collections: async (app, id) => {
    const found = await store.collection(app.db, id);
    if (!found) throw new ApiError('RESOURCE_NOT_FOUND');
    await requireCollection(app.db, NOBODY, found.game_id, id);
    return app.addresses.collection(found.game_name_id, found.name_id);
  },
  users: async (app, id) => app.addresses.user((await requireUser(app, id)).name_id),
};

const addressOfMod = (app: App, { game_name_id, mod_name_id }: store.Found) =>
  app.addresses.mod(game_name_id, mod_name_id);

async function addressOfGuide(app: App, id: number): Promise<string> {
  const found = await store.guide(app.db, id);
  if (!found) throw new ApiError('RESOURCE_NOT_FOUND');
  await requireGuide(app, app.db, NOBODY, found.game_id, id);
  return app.addresses.guide(found.game_name_id, found.guide_name_id);
}

/** The page of public content; for a file that of its mod. */
export async function pageOf(app: App, kind: string, id: number): Promise<string | undefined> {
  if (!Object.hasOwn(pages, kind)) return undefined;
  try {
    return await pages[kind]!(app, id);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

// The resources in the URLs of pages.

export type PublicLine = store.Line;
const LINES_MAX = 50;

export const publicGames = (app: App): Promise<PublicLine[]> | PublicLine[] => store.publicGames(app.db, LINES_MAX);

export const newestMods = (app: App, gameId: number): Promise<PublicLine[]> | PublicLine[] =>
  store.publicMods(app.db, gameId, LINES_MAX);

export async function requireGameNamed(app: App, nameId: string): Promise<number> {
  const found = await store.gameNamed(app.db, nameId);
  if (!found) throw new ApiError('GAME_NOT_FOUND');
  return found.id;
}

export async function requireUserNamed(app: App, nameId: string): Promise<number> {
  const found = await store.userNamed(app.db, nameId);
  if (!found) throw new ApiError('USER_NOT_FOUND');
  return found.id;
}

export async function requireNamedIn(
  app: App,
  kind: store.NamedInGame,
  gameId: number,
  nameId: string,
): Promise<number> {
  const found = await store.namedInGame(app.db, kind, gameId, nameId);
  if (!found) throw new ApiError('RESOURCE_NOT_FOUND');
  return found.id;
}
