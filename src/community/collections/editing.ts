import type { Updateable } from 'kysely';
import { requireGameForChange } from '../../catalogue/games/games.ts';
import { withPicture } from '../../catalogue/mods/editing.ts';
import { tagGroupsOf } from '../../catalogue/tag-options/tag-options.ts';
import { ADMINISTRATOR, teamLevel } from '../../catalogue/teams/teams.ts';
import { prepareTexts, requireCleanTexts } from '../../catalogue/wordlists/wordlists.ts';
import { requireUserIn } from '../../people/users/users.ts';
import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold } from '../../platform/database/words.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { reviewPicture, type UploadedPicture } from '../../platform/images/pictures.ts';
import { sanitised } from '../../platform/text/markup.ts';
import { freeNameId, requireFreeNameId } from '../../platform/text/name-ids.ts';
import { slug } from '../../platform/text/slug.ts';
import { type Audited, audit } from '../../records/audit/audit.ts';
import { removeCommentsLater } from '../comments/removal.ts';
import {
  COLLECTION_ACCEPTED,
  COLLECTION_DELETED,
  COLLECTION_PUBLIC,
  hasCollections,
  invalidateCollection,
  isPublic,
  mayEdit,
  mayModerate,
  maySetMods,
  requireCollection,
  requireCollectionForChange,
  type Standing,
  standingOf,
} from './access.ts';
import { type CollectionTag, MISCELLANEOUS, tagNamed, tagsOf } from './categories.ts';
import { type ShownCollection, showCollection } from './collections.ts';
import { limitOf, putMods, requireEnoughMods, whileRegistering } from './contents.ts';
import * as store from './store.ts';
import type { CollectionsTable } from './table.ts';

/** The fields of a collection that a request can contain. */
export interface SentFields {
  readonly name?: string | undefined;
  readonly name_id?: string | undefined;
  readonly summary?: string | undefined;
  readonly description?: string | undefined;
  readonly category?: number | undefined;
  readonly status?: number | undefined;
  readonly visible?: number | undefined;
  readonly limit_number_mods?: number | undefined;
  readonly tags?: readonly CollectionTag[] | undefined;
  readonly mod_ids?: readonly number[] | undefined;
}

interface Sent<F extends SentFields = SentFields> {
  readonly fields: F;
  readonly logo: UploadedPicture | undefined;
}

/** By default hidden until it has mods. With `status` 0 the game’s team has to accept it. */
export async function addCollection(
  app: App,
  caller: UserCaller,
  gameId: number,
  { fields, logo }: Sent<SentFields & { name: string }>,
): Promise<ShownCollection> {
  await requireMayAdd(app.db, caller, gameId);
  const { userId } = caller;
  const { mod_ids = [], tags = [], limit_number_mods: _, ...texts } = fields;
  await prepareTexts(app.db, gameId, texts);
  return withPicture(app, logo, async (transaction, picture) => {
    // The lock prevents that the game is deleted meanwhile, and that two equal names get the same `name_id`.
    await requireGameForChange(transaction, caller, gameId);
    await requireMayAdd(transaction, caller, gameId);
    await requireUserIn(transaction, userId);
    await requireCleanTexts(transaction, gameId, texts);
    const level = await teamLevel(transaction, caller, 'games', gameId);
    await requireMayTag(transaction, { isSubmitter: true, level }, gameId, [], tags);
    const now = app.clock.now();
    const added = await store.add(transaction.query, {
      ...DEFAULTS,
      visible: mod_ids.length > 0 ? COLLECTION_PUBLIC : 0,
      ...prepared(texts),
      ...picture,
      name: fields.name,
      name_folded: fold(fields.name),
      name_id: await nameIdFor(app, transaction, gameId, fields),
      game_id: gameId,
      submitted_by: userId,
      date_added: now,
      date_updated: now,
    });
    transaction.made?.(added.id);
    await putMods(app, transaction, caller, added, { ids: mod_ids, sync: false });
    await store.putWords(transaction.query, added);
    await putTags(transaction, added.id, tags);
    await settle(app, transaction, added);
    return showCollection(app, transaction, added.id);
  });
}

const DEFAULTS = {
  status: COLLECTION_ACCEPTED,
  category: MISCELLANEOUS,
  date_live: 0,
  date_disabled: 0,
  limit_mods: 0,
  followers_total: 0,
  ratings_positive: 0,
  ratings_negative: 0,
  registering_until: 0,
  deleted_by: 0,
  logo: null,
  tags: '',
  summary: '',
  deleted_reason: '',
  description: '',
};

async function requireMayAdd(reader: Pick<Transaction, 'first'>, caller: Caller, gameId: number): Promise<void> {
  if (!(await hasCollections(reader, caller, gameId))) throw new ApiError('COLLECTIONS_NO_ADD_PERMISSION');
}

/** Leaves room for the suffix that makes equal names unique. */
const STEM_LENGTH_MAX = 37;

async function nameIdFor(app: App, { query }: Transaction, gameId: number, { name, name_id }: SentFields) {
  if (name_id !== undefined) {
    await requireFreeNameId(app, query, 'collections', gameId, name_id, 0);
    return name_id;
  }
  const short = Array.from(slug(name!)).slice(0, STEM_LENGTH_MAX).join('');
  return freeNameId(app, query, 'collections', gameId, { name: short, fallback: 'collection' });
}

/** Converts request fields to columns: markup is sanitised, and the name is also stored folded. */
function prepared(fields: Omit<SentFields, 'tags' | 'mod_ids'>): Updateable<CollectionsTable> {
  const { limit_number_mods, ...plain } = fields;
  const columns: Updateable<CollectionsTable> = { ...plain, limit_mods: limit_number_mods };
  if (plain.description !== undefined) columns.description = sanitised(plain.description);
  if (plain.name !== undefined) columns.name_folded = fold(plain.name);
  return Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
}

async function putTags(transaction: Transaction, id: number, tags: readonly CollectionTag[]): Promise<void> {
  await store.putTags(transaction.query, id, tags);
  await store.change(transaction.query, id, { tags: tags.join(',') });
}

/** The effects of any change of a collection. */
async function settle(app: App, transaction: Transaction, collection: store.CollectionRow): Promise<void> {
  await requireEnoughMods(transaction, collection);
  if (isPublic(collection) && collection.date_live === 0)
    await store.change(transaction.query, collection.id, { date_live: app.clock.now() });
  invalidateCollection(transaction, collection);
}

export async function updateCollection(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  { fields, logo, sync }: Sent & { readonly sync: boolean },
): Promise<ShownCollection> {
  const { mod_ids, tags, ...sent } = fields;
  const ids = mod_ids ?? (sync ? [] : undefined);
  await prepareTexts(app.db, gameId, sent);
  // Checked before pictures are rendered.
  if (logo || ids) await requireEditor(app, caller, gameId, id);
  const change = () =>
    withPicture(app, logo, async (transaction, picture) => {
      const before = await requireCollectionForChange(transaction, caller, gameId, id);
      const standing = await standingOf(transaction, caller, before);
      const settable = await withoutWhatStays(transaction, before, sent);
      await requireMayChange(transaction, standing, before, { ...settable, ...picture, tags }, ids !== undefined);
      await requireCleanTexts(transaction, gameId, settable);
      if (settable.name_id !== undefined && settable.name_id !== before.name_id)
        await requireFreeNameId(app, transaction.query, 'collections', gameId, settable.name_id, id);
      const after = await store.change(transaction.query, id, {
        ...prepared(settable),
        ...picture,
        ...(before.status === COLLECTION_DELETED && RESTORED),
        date_updated: app.clock.now(),
      });
      if (ids) await putMods(app, transaction, caller, after, { ids, sync });
      if (tags) await putTags(transaction, id, tags);
      if (after.name !== before.name) await store.putWords(transaction.query, after);
      if (before.logo && picture.logo && before.logo !== picture.logo)
        await reviewPicture(app, transaction, before.logo);
      await settle(app, transaction, after);
      const data = { fields: Object.keys(prepared(settable)), status: [before.status, after.status] };
      await auditByTeam(app, transaction, caller, before, { action: 'edit', data });
      return showCollection(app, transaction, id);
    });
  return ids ? whileRegistering(app, caller, gameId, id, change) : change();
}

/** Clients send the whole collection back, so unchanged fields need no permission. */
async function withoutWhatStays<F extends SentFields>(
  transaction: Transaction,
  before: store.CollectionRow,
  sent: F,
): Promise<F> {
  const limit = limitOf(before.limit_mods, await store.limitOfGame(transaction, before.game_id));
  return sent.limit_number_mods === limit ? { ...sent, limit_number_mods: undefined } : sent;
}

const RESTORED = { date_disabled: 0, deleted_by: 0, deleted_reason: '' };

async function requireEditor(app: App, caller: Caller, gameId: number, id: number): Promise<void> {
  const collection = await requireCollection(app.db, caller, gameId, id);
  if (!mayEdit(await standingOf(app.db, caller, collection))) throw new ApiError('COLLECTIONS_NO_UPDATE_PERMISSION');
}

/**
 * The submitter and managers of the game edit, its administrators also change the limit and restore deleted
 * collections, and its moderators set only the status.
 */
async function requireMayChange(
  transaction: Transaction,
  standing: Standing,
  before: store.CollectionRow,
  fields: SentFields,
  setsMods: boolean,
): Promise<void> {
  const { status, tags, limit_number_mods, mod_ids: _, ...others } = fields;
  const refused = new ApiError('COLLECTIONS_NO_UPDATE_PERMISSION');
  if (before.status === COLLECTION_DELETED && (status === undefined || standing.level < ADMINISTRATOR)) throw refused;
  if (status !== undefined && status !== before.status && !mayModerate(standing)) throw refused;
  if (limit_number_mods !== undefined && standing.level < ADMINISTRATOR) throw refused;
  if (tags) await requireMayTag(transaction, standing, before.game_id, tagsOf(before.tags), tags);
  const isEditing = setsMods || Object.values(others).some((value) => value !== undefined);
  const isModerating = mayModerate(standing) && status !== undefined;
  if ((isEditing || (!isModerating && !tags)) && !mayEdit(standing)) throw refused;
  if (setsMods && !maySetMods(standing)) throw new ApiError('COLLECTIONS_NO_SET_PERMISSION');
}

/** Tags that the game has locked for mods are locked for collections too. */
async function requireMayTag(
  { query }: Transaction,
  standing: Standing,
  gameId: number,
  before: readonly CollectionTag[],
  after: readonly CollectionTag[],
): Promise<void> {
  const added = after.filter((tag) => !before.includes(tag));
  const removed = before.filter((tag) => !after.includes(tag));
  if (!mayEdit(standing) && added.length > 0) throw new ApiError('COLLECTION_TAGS_NO_ADD_PERMISSION');
  if (!mayEdit(standing)) throw new ApiError('COLLECTION_TAGS_NO_DELETE_PERMISSION');
  if (standing.level > 0 || added.length + removed.length === 0) return;
  const groups = (await tagGroupsOf(query, gameId)).filter(({ locked }) => locked === 1);
  const locked = new Set(groups.flatMap(({ tags }) => tags.map(({ name }) => tagNamed(name))));
  if (added.some((tag) => locked.has(tag))) throw new ApiError('COLLECTION_TAGS_NO_ADD_LOCKED_PERMISSION');
  if (removed.some((tag) => locked.has(tag))) throw new ApiError('COLLECTIONS_TAGS_NO_DELETE_PERMISSION');
}

/** Removes mods from a collection. Mods that are not in it are ignored. */
export function removeModsFromCollection(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  ids: readonly number[],
): Promise<void> {
  return whileRegistering(app, caller, gameId, id, () =>
    app.db.write(async (transaction) => {
      const collection = await requireCollectionForChange(transaction, caller, gameId, id);
      if (!maySetMods(await standingOf(transaction, caller, collection)))
        throw new ApiError('COLLECTIONS_NO_SET_PERMISSION');
      await store.removeMods(transaction.query, id, ids);
      await settle(app, transaction, await store.change(transaction.query, id, { date_updated: app.clock.now() }));
      await auditByTeam(app, transaction, caller, collection, { action: 'remove-mods', data: { mods: ids } });
    }),
  );
}

/** Changes by the submitter are not audited. */
async function auditByTeam(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  { id, game_id: gameId, submitted_by }: store.CollectionRow,
  { action, ...told }: Pick<Audited, 'action' | 'reason' | 'data'>,
): Promise<void> {
  const { userId: actor } = caller;
  if (actor === submitted_by) return;
  const subject = { resource: 'collections', id, gameId };
  await audit(app, transaction, { ...told, actor, action: `collections.${action}`, subject });
}

/** Allowed for the submitter and the game’s team. Administrators of the game can restore the collection. */
export async function deleteCollection(
  app: App,
  caller: UserCaller,
  gameId: number,
  id: number,
  reason: string,
): Promise<void> {
  await app.db.write(async (transaction) => {
    const collection = await requireCollectionForChange(transaction, caller, gameId, id);
    const standing = await standingOf(transaction, caller, collection);
    if (!standing.isSubmitter && !mayModerate(standing)) throw new ApiError('COLLECTIONS_NO_DELETE_PERMISSION');
    if (collection.status === COLLECTION_DELETED) return;
    await store.change(transaction.query, id, {
      status: COLLECTION_DELETED,
      date_disabled: app.clock.now(),
      deleted_by: caller.userId,
      deleted_reason: reason,
    });
    invalidateCollection(transaction, collection);
    await auditByTeam(app, transaction, caller, collection, { action: 'delete', reason });
  });
}

/** Not allowed for moderators, because their decisions must be reversible and this is not. */
export async function deleteCollectionForEver(app: App, caller: UserCaller, gameId: number, id: number): Promise<void> {
  await app.db.write(async (transaction) => {
    const collection = await requireCollectionForChange(transaction, caller, gameId, id);
    const { isSubmitter, level } = await standingOf(transaction, caller, collection);
    if (!isSubmitter && level < ADMINISTRATOR) throw new ApiError('COLLECTIONS_NO_DELETE_PERMISSION');
    await store.remove(transaction.query, id);
    await removeCommentsLater(app, transaction, 'collections', id);
    if (collection.logo) await reviewPicture(app, transaction, collection.logo);
    invalidateCollection(transaction, collection);
    await auditByTeam(app, transaction, caller, collection, { action: 'delete-for-ever' });
  });
}
