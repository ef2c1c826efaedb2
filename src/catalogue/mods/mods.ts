import type { Updateable } from 'kysely';
import { requireUserIn } from '../../people/users/users.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold, type ListRequest, matchesAnything } from '../../platform/database/listing.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { sanitised } from '../../platform/text/markup.ts';
import { freeNameId, requireFreeNameId } from '../../platform/text/name-ids.ts';
import { translate } from '../../platform/text/translations.ts';
import type { Platform } from '../../platform/vocabulary/game-platforms.ts';
import { recordModEvent, recordUserEvent } from '../../records/events/events.ts';
import type { ModEventType } from '../../records/webhooks/kinds.ts';
import { type GameRow, requireGame } from '../games/games.ts';
import { countPublicMods } from '../games/stats.ts';
import { requireRoomForMod } from '../plans/plans.ts';
import { ADMINISTRATOR, joinTeam } from '../teams/teams.ts';
import {
  isPublic,
  MOD_ACCEPTED,
  MOD_DELETED,
  MOD_NOT_ACCEPTED,
  MOD_PUBLIC,
  scopeOfAuthor,
  scopeOfBuyer,
  scopeOfGame,
  scopeOfMember,
  scopeOfSubscriber,
} from './access.ts';
import * as documentStore from './document-store.ts';
import { invalidateMod, rewriteModDocuments } from './documents.ts';
import { modExtensions } from './extensions.ts';
import { findIds, findMods } from './finding.ts';
import type * as listStore from './list-store.ts';
import { FREE } from './listing.ts';
import { type AssembledPage, pageOfMods } from './page.ts';
import { endForDeletedMod, removeModRows } from './removal.ts';
import * as statsStore from './stats-store.ts';
import * as store from './store.ts';
import type { ModsTable } from './table.ts';
import { updateWords } from './words.ts';

export * from './access.ts';
export type { StoredMod } from './document-store.ts';
export { invalidateMod } from './documents.ts';
export { MOD_SORTS, modListing } from './listing.ts';
export type { ModCounts } from './stats-store.ts';
export type { ModRow, ModStanding, ModStats } from './store.ts';

/** `community_options`: comments, dependencies, use in collections. */
const ALLOW_DEPENDENCY = 1_024;
const COMMUNITY_DEFAULT = 1 | ALLOW_DEPENDENCY | 131_072;
/** The game's `dependency_option`. */
const DEPENDENCIES_DISALLOWED = 0;
const DEPENDENCIES_OPT_IN = 1;
const DEPENDENCIES_UNRESTRICTED = 3;
const LOCALISABLE = ['name', 'summary', 'description'] as const;

type Settable =
  | 'name'
  | 'name_id'
  | 'summary'
  | 'description'
  | 'homepage_url'
  | 'visible'
  | 'maturity_option'
  | 'community_options'
  | 'credit_options'
  | 'stock'
  | 'metadata_blob'
  | 'logo';

export type ModChanges = { readonly [F in Settable]?: ModsTable[F] | undefined } & {
  readonly status?: number | undefined;
};

export interface NewMod extends Omit<ModChanges, 'status'> {
  readonly gameId: number;
  readonly ownerId: number;
  readonly name: string;
  readonly summary: string;
  /** Accepts the mod without the file that the API requires, for sample content and tests. */
  readonly accepted?: boolean;
}

/** Defaults of a new mod. */
export const NEW_MOD = {
  visible: MOD_PUBLIC,
  maturity_option: 0,
  community_options: COMMUNITY_DEFAULT,
  monetization_options: 0,
  credit_options: 0,
  stock: 0,
  price: 0,
  tax: 0,
  dmca: 0,
  downloads_today: 0,
  downloads_total: 0,
  subscribers_total: 0,
  ratings_weighted_aggregate: 0,
  popularity: 0,
  logo: null,
  homepage_url: null,
  metadata_blob: null,
  metadata_blob_folded: '',
  description: '',
};

/** Adds a mod with its owner as administrator of its team. */
export async function addMod(app: App, transaction: Transaction, mod: NewMod): Promise<store.ModRow> {
  const { gameId, ownerId, accepted = false, ...fields } = mod;
  await requireUserIn(transaction, ownerId);
  await requireRoomForMod(transaction, gameId);
  const now = app.clock.now();
  const row = await store.add(transaction.query, {
    ...NEW_MOD,
    community_options: await communityDefault(transaction, gameId),
    ...prepared(fields),
    name: fields.name,
    name_folded: fold(fields.name),
    summary: fields.summary,
    name_id: await nameIdFor(app, transaction, gameId, fields),
    game_id: gameId,
    submitted_by: ownerId,
    status: accepted ? MOD_ACCEPTED : MOD_NOT_ACCEPTED,
    date_added: now,
    date_updated: now,
    date_live: accepted ? now : 0,
  });
  await statsStore.addStats(transaction.query, row);
  const member = { resource: 'mods', resourceId: row.id, userId: ownerId, level: ADMINISTRATOR } as const;
  await joinTeam(app, transaction, { ...member, position: 'Owner' });
  await recordUserEvent(app, transaction, { gameId, modId: row.id, userId: ownerId, type: 'USER_TEAM_JOIN' });
  await settle(app, transaction, undefined, row, ownerId);
  return row;
}

/** Where mods opt in to dependencies, a new mod starts without them. */
async function communityDefault(transaction: Transaction, gameId: number): Promise<number> {
  const isOptIn = (await store.dependencyOption(transaction, gameId)) === DEPENDENCIES_OPT_IN;
  return isOptIn ? COMMUNITY_DEFAULT & ~ALLOW_DEPENDENCY : COMMUNITY_DEFAULT;
}

async function nameIdFor(app: App, { query }: Transaction, gameId: number, { name, name_id }: ModChanges) {
  if (name_id !== undefined) {
    await requireFreeNameId(app, query, 'mods', gameId, name_id, 0);
    return name_id;
  }
  return freeNameId(app, query, 'mods', gameId, { name: name!, fallback: 'mod' });
}

/** The columns for the sent fields: markup is sanitised, and texts that lists compare have a folded copy. */
function prepared<C extends ModChanges>(changes: C): C & Updateable<ModsTable> {
  const columns: Updateable<ModsTable> = { ...changes };
  for (const [name, value] of Object.entries(columns)) if (value === undefined) delete columns[name as keyof ModsTable];
  if (changes.description !== undefined) columns.description = sanitised(changes.description);
  if (changes.name !== undefined) columns.name_folded = fold(changes.name);
  if (changes.metadata_blob !== undefined) columns.metadata_blob_folded = fold(changes.metadata_blob ?? '');
  return columns as C & Updateable<ModsTable>;
}

export function localisableOf(
  changes: Partial<Record<(typeof LOCALISABLE)[number], string | null | undefined>>,
): Record<string, string> {
  const texts = LOCALISABLE.map((field) => [field, changes[field]] as const);
  return Object.fromEntries(texts.filter((entry): entry is [(typeof LOCALISABLE)[number], string] => entry[1] != null));
}

/**
 * Changes a mod; the caller checks permissions first. Texts in a language other than English are stored as
 * translations.
 */
export async function applyModChanges(
  app: App,
  transaction: Transaction,
  before: store.ModRow,
  changes: ModChanges,
  userId: number,
  language: Language = 'en',
): Promise<void> {
  const { query } = transaction;
  if (changes.name_id !== undefined && changes.name_id !== before.name_id)
    await requireFreeNameId(app, query, 'mods', before.game_id, changes.name_id, before.id);
  const columns: Updateable<ModsTable> = prepared(changes);
  if (language !== 'en') {
    await translate(query, 'mods', before.id, language, localisableOf(columns));
    for (const field of [...LOCALISABLE, 'name_folded'] as const) delete columns[field];
  }
  const now = app.clock.now();
  if (columns.status === MOD_ACCEPTED && before.date_live === 0) columns.date_live = now;
  await requireNotNeeded(transaction, before, columns);
  const isRestored = before.status === MOD_DELETED && (columns.status ?? MOD_DELETED) !== MOD_DELETED;
  if (isRestored) await requireRoomForMod(transaction, before.game_id);
  if (columns.status === MOD_DELETED && before.status !== MOD_DELETED) await endForDeletedMod(app, transaction, before);
  const after = await store.change(transaction, before.id, { ...columns, date_updated: now });
  await settle(app, transaction, before, after, userId);
}

/** A mod that others depend on can neither be deleted nor forbid dependencies, unless the game leaves them unrestricted. */
async function requireNotNeeded(
  transaction: Transaction,
  before: store.ModRow,
  { status = before.status, community_options = before.community_options }: Updateable<ModsTable>,
): Promise<void> {
  const isDeletion = status === MOD_DELETED && before.status !== MOD_DELETED;
  const isOptOut = (before.community_options & ~community_options & ALLOW_DEPENDENCY) !== 0;
  if (isDeletion) requireNotForSale(before);
  if (isDeletion) await requireNoDependants(transaction, before);
  if (isOptOut && (await isNeeded(transaction, before)))
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'community_options', rule: 'has_dependants' }] });
}

async function isNeeded(transaction: Transaction, mod: store.ModRow): Promise<boolean> {
  const option = await store.dependencyOption(transaction, mod.game_id);
  if (option === DEPENDENCIES_UNRESTRICTED || option === DEPENDENCIES_DISALLOWED) return false;
  return store.hasDependants(transaction, mod.id);
}

async function requireNoDependants(transaction: Transaction, mod: store.ModRow): Promise<void> {
  if (await isNeeded(transaction, mod)) throw new ApiError('MOD_NO_DELETE_PERMISSION');
}

/** `monetization_options`: the mod is for sale. */
const MONETIZATION = 1;

function requireNotForSale({ monetization_options, price }: store.ModRow): void {
  if ((monetization_options & MONETIZATION) !== 0 || price > 0) throw new ApiError('MOD_CANNOT_DELETE_MONETISED');
}

/** Updates everything that is derived from a mod's row. */
async function settle(
  app: App,
  transaction: Transaction,
  before: store.ModRow | undefined,
  after: store.ModRow,
  userId: number,
): Promise<void> {
  const difference = Number(isPublic(after)) - Number(before !== undefined && isPublic(before));
  if (difference !== 0) {
    await countPublicMods(transaction, after.game_id, difference);
    for (const { onPublicChange } of app.extensions.of(modExtensions))
      await onPublicChange?.(transaction, after, difference > 0);
  }
  await updateWords(transaction, before, after);
  await rewriteModDocuments(app, transaction, after.id);
  invalidateMod(transaction, after.game_id, after.id);
  const type = eventOf(before, after);
  const shown = isPublic(after) || (before !== undefined && isPublic(before));
  if (type) await recordModEvent(app, transaction, { ...namesOf(after), userId, type, isPublic: shown });
}

const namesOf = ({ id, game_id }: Pick<store.ModRow, 'id' | 'game_id'>) => ({ gameId: game_id, modId: id });

/** One event per change: a client that learns that a mod appeared or disappeared reads the whole mod anyway. */
function eventOf(before: store.ModRow | undefined, after: store.ModRow): ModEventType | undefined {
  const wasPublic = before !== undefined && isPublic(before);
  if (before?.status !== MOD_DELETED && after.status === MOD_DELETED) return 'MOD_DELETED';
  if (wasPublic !== isPublic(after)) return wasPublic ? 'MOD_UNAVAILABLE' : 'MOD_AVAILABLE';
  return before && 'MOD_EDITED';
}

/** Locks a mod for a change that no caller requested, such as a scan result. Undefined if it was removed for good. */
export async function lockMod(transaction: Transaction, id: number): Promise<store.ModRow | undefined> {
  return store.rowForChange(transaction, id);
}

/** Rewrites the documents after a change of the mod object that is no edit. */
export async function refreshMod(app: App, transaction: Transaction, mod: Pick<store.ModRow, 'id' | 'game_id'>) {
  await rewriteModDocuments(app, transaction, mod.id);
  invalidateMod(transaction, mod.game_id, mod.id);
}

/**
 * For resources that contribute to the mod object: rewrites its documents and records an edit, unless the change has an
 * event type of its own. `userId` is the actor, by default the submitter.
 */
export async function modChanged(
  app: App,
  transaction: Transaction,
  mod: Pick<store.ModRow, 'id' | 'game_id'>,
  { userId, type = 'MOD_EDITED' }: { userId?: number; type?: ModEventType } = {},
): Promise<void> {
  const row = await store.change(transaction, mod.id, { date_updated: app.clock.now() });
  await rewriteModDocuments(app, transaction, mod.id);
  invalidateMod(transaction, mod.game_id, mod.id);
  const event = { ...namesOf(row), userId: userId ?? row.submitted_by, type, isPublic: isPublic(row) };
  await recordModEvent(app, transaction, event);
}

/** A mod that this mod depended on is gone; it may have been the last dependency. */
export async function dependencyRemoved(transaction: Transaction, id: number): Promise<void> {
  await documentStore.loseDependency(transaction, id);
  transaction.changed(`mods/${id}`);
}

/** Updates the live file in the mod's list row. */
export const showLiveFile = (transaction: Transaction, id: number) => documentStore.showFile(transaction, id);

/** Makes another team member the leader, whom the mod names as its submitter. The team records the event. */
export async function transferMod(
  app: App,
  transaction: Transaction,
  mod: Pick<store.ModRow, 'id' | 'game_id'>,
  userId: number,
) {
  await store.change(transaction, mod.id, { submitted_by: userId });
  await refreshMod(app, transaction, mod);
}

/** Sets what the mod is sold for. The caller rewrites its documents, as every edit does. */
export const setOffer = (
  transaction: Transaction,
  id: number,
  offer: Partial<Pick<store.ModRow, 'price' | 'monetization_options' | 'stock'>>,
): Promise<store.ModRow> => store.change(transaction, id, offer);

/** Opens or closes a copyright complaint. While one is open, nobody can subscribe to the mod. */
export async function setDmca(transaction: Transaction, mod: Pick<store.ModRow, 'id' | 'game_id'>, isOpen: boolean) {
  await store.change(transaction, mod.id, { dmca: Number(isOpen) });
  invalidateMod(transaction, mod.game_id, mod.id);
}

/** Marks the mod as deleted. Its row stays for its teams and for rows that refer to it. */
export const removeMod = (app: App, transaction: Transaction, mod: store.ModRow, userId: number): Promise<void> =>
  applyModChanges(app, transaction, mod, { status: MOD_DELETED }, userId);

/** Removes the mod for good, except its events. The caller checks permissions first. */
export async function removeModForEver(app: App, transaction: Transaction, mod: store.ModRow): Promise<void> {
  if (mod.status !== MOD_DELETED) throw new ApiError('MOD_NO_PERMANENT_DELETE_MUST_SOFT_DELETE_FIRST');
  if (await store.hasSubscribers(transaction, mod.id)) throw new ApiError('MOD_NO_DELETE_PERMISSION_HAS_SUBSCRIBERS');
  requireNotForSale(mod);
  await requireNoDependants(transaction, mod);
  await removeModRows(app, transaction, mod);
  invalidateMod(transaction, mod.game_id, mod.id);
}

export async function listModsOfGame(
  app: App,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  language: Language,
  on: OnPlatform = {},
) {
  const { scope, asked } = await visibleScope(app, caller, gameId, request, on);
  return findMods(app.db, scope, asked, language, on.platform);
}

/** As `listModsOfGame`, as JSON ready to send. */
export async function pageOfGame(
  app: App,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  language: Language,
  on: OnPlatform = {},
): Promise<AssembledPage> {
  const { scope, asked } = await visibleScope(app, caller, gameId, request, on);
  const found = await findIds(app.db, scope, asked);
  const { limit, offset } = request;
  return pageOfMods(app, { ...found, gameId, language, platform: on.platform, limit, offset });
}

async function visibleScope(
  app: App,
  caller: Caller,
  gameId: number,
  request: ListRequest,
  { platform, platformStatus }: OnPlatform,
): Promise<{ readonly scope: listStore.ModScope; readonly asked: ListRequest }> {
  const game = await requireGame(app.db, caller, gameId);
  const isAsked = platform !== undefined || platformStatus !== undefined;
  const on = isAsked && (await store.hasPlatforms(app.db, gameId)) ? { platform, platformStatus } : {};
  const scope = await scopeOfGame(app.db, caller, gameId, request, on);
  return { scope, asked: byRevenue(game, scope, request) };
}

/**
 * The public list of a game that sells has free mods only, unless the request says otherwise: clients that cannot buy do
 * not ask for paid mods. A team that filters by state sees both.
 */
function byRevenue(
  { monetization_options }: Pick<GameRow, 'monetization_options'>,
  { asksStatus, asksVisible }: listStore.ModScope,
  request: ListRequest,
): ListRequest {
  const isAsked = request.groups.some((group) => group.some(({ column }) => column.name === 'revenue_type'));
  const isFreeOnly = !isAsked && !asksStatus && !asksVisible && monetization_options !== 0;
  const groups = request.groups.filter((group) => !group.some(matchesAnything));
  return { ...request, groups: isFreeOnly ? [...groups, [FREE]] : groups };
}

/** The platform of a request, and whether it asks for files that await approval there. */
export interface OnPlatform {
  readonly platform?: Platform | undefined;
  readonly platformStatus?: listStore.PlatformStatus | undefined;
}

/**
 * The user's subscriptions, including hidden and unaccepted mods. A platform filters the list only within one game,
 * because a user plays different games on different platforms.
 */
export const listModsOfSubscriber = (
  app: App,
  caller: UserCaller,
  request: ListRequest,
  language: Language,
  on: OnPlatform = {},
) => findMods(app.db, scopeOfSubscriber(caller, request, inOneGame(request, on)), request, language, on.platform);

/** The mods that the user has bought, filtered in the same way. Muting an author does not hide them. */
export const listModsOfBuyer = (
  app: App,
  caller: UserCaller,
  request: ListRequest,
  language: Language,
  on: OnPlatform = {},
) => findMods(app.db, scopeOfBuyer(caller, request, inOneGame(request, on)), request, language, on.platform);

function inOneGame(request: ListRequest, { platform, platformStatus }: OnPlatform): OnPlatform {
  const isOfOneGame = request.groups.some(
    (group) => group.length === 1 && group[0]!.column.name === 'game_id' && group[0]!.operator === 'eq',
  );
  return isOfOneGame ? { platform, platformStatus } : {};
}

/** A platform selects the live files of these mods, but does not filter the list. */
export const listModsOfMember = (
  app: App,
  userId: number,
  request: ListRequest,
  language: Language,
  { platform, platformStatus }: OnPlatform = {},
) => findMods(app.db, scopeOfMember(userId, request, platformStatus), request, language, platform);

/** The public mods that a user submitted, in all public games. */
export const listModsOfAuthor = (
  app: App,
  caller: Caller,
  userId: number,
  request: ListRequest,
  language: Language,
  { platform }: OnPlatform = {},
) => findMods(app.db, scopeOfAuthor(caller, userId), request, language, platform);

/** The documents of these mods in any order, for lists of other resources, which check permissions themselves. */
export const modDocuments = (app: App, ids: readonly number[], language: Language, platform?: Platform) =>
  documentStore.documentsOf(app.db.query, ids, language, platform);
