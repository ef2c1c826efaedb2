import { GAME_ACCEPTED, requireGame } from '../../catalogue/games/games.ts';
import { isPublic as isPublicMod, requireMod } from '../../catalogue/mods/mods.ts';
import { isPublic as isPublicCollection, requireCollection } from '../../community/collections/collections.ts';
import { isLive, requireGuide } from '../../community/guides/guides.ts';
import { requireUserIn } from '../../people/users/users.ts';
import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

export type Resource = store.Resource;

/** The reported content or user. */
export interface Subject {
  readonly resource: Resource;
  readonly id: number;
  /** Its game; 0 for users. */
  readonly gameId: number;
  readonly authorId: number;
}

/** How the request identifies the subject: by an id, a name, or the URL of a page. */
export interface Named {
  readonly resource: Resource;
  readonly id: string;
  readonly gameNameId: string | undefined;
}

const DIGITS = /^\d{1,15}$/;
const ADDRESS = /^(?:[a-z][a-z0-9+.-]*:)?\/|^www\./i;

/** Finds only subjects that the caller may see. */
export async function findSubject(app: App, transaction: Transaction, caller: Caller, named: Named): Promise<Subject> {
  const { resource, id } = named;
  if (DIGITS.test(id)) {
    const found = await store.byId(transaction, resource, Number(id));
    return requireReportable(app, transaction, caller, resource, found, 'RESOURCE_NOT_FOUND');
  }
  const names = ADDRESS.test(id) ? namesInAddress(app, resource, id) : await namesSent(transaction, caller, named);
  const found = await byNames(transaction, resource, names);
  return requireReportable(app, transaction, caller, resource, found, 'REPORT_INVALID_NAMEID');
}

interface Names {
  readonly game: string;
  readonly name: string;
}

const PLACES: Record<string, Resource> = { m: 'mods', r: 'guides', c: 'collections' };
const PAGE_IN_GAME = /^\/g\/([^/]+)\/([mrc])\/([^/]+)\/?$/;
const PAGE_OF_GAME = /^\/g\/([^/]+)\/?$/;
const PAGE_OF_USER = /^\/u\/([^/]+)\/?$/;

/** Accepts only URLs of this site, and only for the resource that they show. */
function namesInAddress(app: App, resource: Resource, text: string): Names {
  const path = pathOf(app, text);
  const [, game = '', place = '', name = ''] = PAGE_IN_GAME.exec(path) ?? [];
  if (place && PLACES[place] === resource) return { game, name };
  const [, alone] = (resource === 'games' ? PAGE_OF_GAME : PAGE_OF_USER).exec(path) ?? [];
  if (alone && (resource === 'games' || resource === 'users')) return { game: alone, name: alone };
  throw new ApiError('REPORT_INVALID_URL');
}

function pathOf(app: App, text: string): string {
  const address = URL.parse(text, app.addresses.site);
  if (address?.host !== new URL(app.addresses.site).host || !/^https?:$/.test(address.protocol))
    throw new ApiError('REPORT_INVALID_URL');
  try {
    return decodeURIComponent(address.pathname);
  } catch (cause) {
    throw new ApiError('REPORT_INVALID_URL', { cause });
  }
}

const gameOf = (caller: Caller): number => (caller.kind === 'nobody' ? 0 : (caller.gameId ?? 0));

/** Names are unique within a game: the one in the request, or that of the key or token. */
async function namesSent(transaction: Transaction, caller: Caller, { id, gameNameId }: Named): Promise<Names> {
  const game = gameNameId ?? (await store.gameName(transaction, gameOf(caller)));
  return { game: game ?? '', name: id };
}

async function byNames(transaction: Transaction, resource: Resource, { game, name }: Names) {
  if (resource === 'games') return store.gameByName(transaction, name);
  if (resource === 'users') return store.userByName(transaction, name);
  return resource === 'comments' ? undefined : store.byNameInGame(transaction, resource, game, name);
}

/** The game in which a user was met: the one in the request, or that of the key or token. */
export async function gameOfMeeting(
  transaction: Transaction,
  caller: Caller,
  gameNameId: string | undefined,
): Promise<number> {
  if (gameNameId === undefined) return gameOf(caller);
  const game = await store.gameByName(transaction, gameNameId);
  if (!game) throw new ApiError('REPORT_INVALID_NAMEID');
  await unlessRefused('REPORT_INVALID_NAMEID', () => requireGame(transaction, caller, game.id));
  return game.id;
}

async function requireReportable(
  app: App,
  transaction: Transaction,
  caller: Caller,
  resource: Resource,
  found: store.Whereabouts | undefined,
  missing: ErrorName,
): Promise<Subject> {
  if (!found) throw new ApiError(missing);
  const { id, game_id: gameId, submitted_by: authorId } = found;
  if (!(await unlessRefused(missing, () => isShownToAll(app, transaction, caller, resource, found))))
    throw new ApiError('REPORT_RESOURCE_NOT_AVAILABLE_FOR_REPORT');
  return { resource, id, gameId, authorId };
}

/** Callers who get the error for deleted content may learn that it cannot be reported. */
const GONE: readonly ErrorName[] = ['GAME_DELETED', 'MOD_DELETED', 'GUIDE_DELETED'];

/** A specific error would reveal that hidden content exists. */
async function unlessRefused<T>(missing: ErrorName, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (!(cause instanceof ApiError)) throw cause;
    throw new ApiError(GONE.includes(cause.error) ? 'REPORT_RESOURCE_NOT_AVAILABLE_FOR_REPORT' : missing, { cause });
  }
}

/** Refuses subjects that the caller may not see, those that are not public, and the caller themselves. */
async function isShownToAll(
  app: App,
  transaction: Transaction,
  caller: Caller,
  resource: Resource,
  { id, game_id }: store.Whereabouts,
): Promise<boolean> {
  switch (resource) {
    case 'games':
      return (await requireGame(transaction, caller, id)).status === GAME_ACCEPTED;
    case 'mods':
      return isPublicMod(await requireMod(transaction, caller, game_id, id));
    case 'guides':
      return isLive(app, await requireGuide(app, transaction, caller, game_id, id));
    case 'collections':
      return isPublicCollection(await requireCollection(transaction, caller, game_id, id));
    case 'comments':
      return isShownWithComment(app, transaction, caller, game_id, id);
    case 'users':
      return (await requireUserIn(transaction, id)).id !== (caller.kind === 'user' ? caller.userId : 0);
  }
}

/** A comment is visible to everyone who sees its content. */
async function isShownWithComment(app: App, transaction: Transaction, caller: Caller, game_id: number, id: number) {
  const { resource, resource_id } = (await store.commented(transaction, id))!;
  return isShownToAll(app, transaction, caller, resource, { id: resource_id, game_id, submitted_by: 0 });
}
