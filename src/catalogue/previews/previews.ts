import { requireNotBlocked } from '../../people/blocks/blocks.ts';
import { requireUserIn } from '../../people/users/users.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import { accessChanged } from '../../platform/access/credentials.ts';
import type { App } from '../../platform/app.ts';
import type { Database, Transaction } from '../../platform/database/database.ts';
import type { Listing, ListRequest } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { requireGame } from '../games/games.ts';
import { ALLOW_PREVIEW_URL, ALLOW_PREVIEWS } from '../games/preview-options.ts';
import { auditByGame } from '../mods/auditing.ts';
import { levelsOf, MOD_DELETED, mayEdit, requireMod } from '../mods/mods.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';
import * as store from './store.ts';

export type { Previewer } from './store.ts';

type Reader = Pick<Database, 'first'>;

type PreviewedResource = 'games' | 'mods';

/** A game, or a mod of it. */
export interface Place {
  readonly gameId: number;
  readonly modId?: number;
}

interface Previewed extends store.Standing {
  readonly resource: PreviewedResource;
  readonly id: number;
}

/** The columns that lists of previewers can be filtered and sorted by. */
export const previewerListing: Listing = {
  from: 'p',
  columns: {
    id: { kind: 'integer' },
    user_id: { kind: 'integer' },
    invited_by: { kind: 'integer' },
    date_added: { kind: 'integer' },
    username: { kind: 'text', sql: 'lower(u.username)' },
  },
  sorts: { id: 'p.id', user_id: 'p.user_id', date_added: 'p.date_added' },
};

const namesOf = ({ gameId, modId }: Place) =>
  modId === undefined ? ({ resource: 'games', id: gameId } as const) : ({ resource: 'mods', id: modId } as const);

/** Locks the resource, so that it is neither deleted nor published between the check and the change. */
function lock(transaction: Transaction, place: Place) {
  const { resource, id } = namesOf(place);
  return store.lock(transaction, resource, id);
}

/** Users who may edit the resource manage its previews. */
async function requireManaged(reader: Reader, caller: Caller, place: Place): Promise<Previewed> {
  const { gameId, modId } = place;
  if (modId === undefined) {
    await requireGame(reader, caller, gameId);
    if ((await teamLevel(reader, caller, 'games', gameId)) < MANAGER) throw new ApiError('GAME_NO_UPDATE_PERMISSION');
  } else {
    const mod = await requireMod(reader, caller, gameId, modId);
    if (!mayEdit(await levelsOf(reader, caller, mod))) throw new ApiError('MOD_NO_UPDATE_PERMISSION');
  }
  const names = namesOf(place);
  return { ...names, ...(await store.standingOf(reader, names.resource, names.id))! };
}

export async function listPreviewers(app: App, caller: Caller, place: Place, request: ListRequest) {
  const { resource, id } = await requireManaged(app.db, caller, place);
  return store.list(app.db.query, resource, id, previewerListing, request);
}

/** Invites a user to a preview. A repeated invitation changes nothing. */
export async function invitePreviewer(
  app: App,
  caller: UserCaller,
  place: Place,
  userId: number,
): Promise<store.Previewer> {
  return app.db.write(async (transaction) => {
    await lock(transaction, place);
    const previewed = await requireManaged(transaction, caller, place);
    requireOpen(previewed, ALLOW_PREVIEWS);
    await requireUserIn(transaction, userId);
    if (userId !== caller.userId) await requireNotBlocked(transaction, userId, caller.userId);
    const previewer = await addPreviewer(app, transaction, previewed, userId, caller.userId);
    await auditPreviews(app, transaction, caller, place, 'invite', { user: userId });
    return previewer;
  });
}

/** Registers a caller who has the link. Without it, hidden and missing resources give the same error. */
export async function registerPreviewer(
  app: App,
  caller: UserCaller,
  place: Place,
  hash: string,
): Promise<store.Previewer> {
  return app.db.write(async (transaction) => {
    await lock(transaction, place);
    const { resource, id } = namesOf(place);
    if (resource === 'mods') await requireGame(transaction, caller, place.gameId);
    const standing = await store.standingOf(transaction, resource, id);
    const isThere = standing?.game_id === place.gameId && standing.status !== MOD_DELETED;
    const isRight = await hasHash(app, transaction, { resource, id }, hash);
    if (!isThere || (!isRight && standing.is_public === 0)) throw new ApiError('PREVIEWER_REGISTRATION_INVALID');
    const previewed = { resource, id, ...standing };
    requireOpen(previewed, ALLOW_PREVIEW_URL);
    return addPreviewer(app, transaction, previewed, caller.userId, null);
  });
}

function requireOpen({ is_public, community_options }: Previewed, option: number): void {
  if (is_public === 1) throw new ApiError('PREVIEWER_REGISTRATION_RESOURCE_IS_PUBLIC');
  if ((community_options & option) === 0) throw new ApiError('PREVIEWER_REGISTRATION_DISABLED');
}

/** Adds a previewer, whatever the options are. */
export async function addPreviewer(
  app: App,
  transaction: Transaction,
  { resource, id }: Pick<Previewed, 'resource' | 'id'>,
  userId: number,
  invitedBy: number | null,
): Promise<store.Previewer> {
  const row = { resource, resource_id: id, user_id: userId, invited_by: invitedBy, date_added: app.clock.now() };
  await store.put(transaction.query, row);
  accessChanged(transaction);
  return store.previewer(transaction.query, resource, id, userId);
}

/** Managers may remove any previewer, and every previewer may leave. */
export async function removePreviewer(app: App, caller: UserCaller, place: Place, userId: number): Promise<void> {
  await app.db.write(async (transaction) => {
    if (userId !== caller.userId) await requireManaged(transaction, caller, place);
    const { resource, id } = namesOf(place);
    if (!(await store.remove(transaction.query, resource, id, userId))) return;
    accessChanged(transaction);
    // The user may keep a visibility class of their own through a team, so cached responses must be invalidated.
    transaction.changed(`${resource}/${id}`);
    if (userId !== caller.userId) await auditPreviews(app, transaction, caller, place, 'remove', { user: userId });
  });
}

export interface PreviewLink {
  readonly resource: PreviewedResource;
  readonly id: number;
  /** Null if nobody can register: it is public, or the option is off. */
  readonly hash: string | null;
  readonly address: string | null;
}

export async function previewLink(app: App, caller: Caller, place: Place): Promise<PreviewLink> {
  const previewed = await requireManaged(app.db, caller, place);
  return linkTo(app, app.db, previewed);
}

/** Invalidates the old link. Users who registered with it remain previewers. */
export async function renewPreviewLink(app: App, caller: UserCaller, place: Place): Promise<PreviewLink> {
  return app.db.write(async (transaction) => {
    await lock(transaction, place);
    const previewed = await requireManaged(transaction, caller, place);
    requireOpen(previewed, ALLOW_PREVIEW_URL);
    await store.nextVersion(transaction, previewed.resource, previewed.id);
    await auditPreviews(app, transaction, caller, place, 'renew-link');
    return linkTo(app, transaction, previewed);
  });
}

/** Removes all previewers and invalidates the link, even if the game or mod is restored later. */
export async function endPreviews(
  transaction: Transaction,
  resource: PreviewedResource,
  resourceId: number,
): Promise<void> {
  await store.nextVersion(transaction, resource, resourceId);
  if (await store.removePreviewers(transaction.query, resource, resourceId)) accessChanged(transaction);
}

async function auditPreviews(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { gameId, modId }: Place,
  done: 'invite' | 'remove' | 'renew-link',
  data: Record<string, unknown> = {},
): Promise<void> {
  const action = `previews-${done}`;
  if (modId === undefined) return auditGame(app, transaction, caller, gameId, { action, data });
  await auditByGame(app, transaction, caller, { id: modId, game_id: gameId }, { action: `mods.${action}`, data });
}

async function linkTo(app: App, reader: Reader, previewed: Previewed): Promise<PreviewLink> {
  const { resource, id, is_public, community_options, game_name_id, name_id } = previewed;
  if (is_public === 1 || (community_options & ALLOW_PREVIEW_URL) === 0)
    return { resource, id, hash: null, address: null };
  const hash = app.secrets.sign(PURPOSE, signed(previewed, await store.versionOf(reader, resource, id)));
  const page = resource === 'games' ? app.addresses.game(name_id) : app.addresses.mod(game_name_id, name_id);
  return { resource, id, hash, address: `${page}?preview=${hash}` };
}

const PURPOSE = 'preview';
const signed = ({ resource, id }: Pick<Previewed, 'resource' | 'id'>, version: number) =>
  `${resource}/${id}/${version}`;

async function hasHash(app: App, reader: Reader, named: Pick<Previewed, 'resource' | 'id'>, hash: string) {
  const version = await store.versionOf(reader, named.resource, named.id);
  return app.secrets.verify(PURPOSE, signed(named, version), hash);
}
