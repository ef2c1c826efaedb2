import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { type Language, languageOf } from '../../platform/localisation/languages.ts';
import { translate, translationsIn } from '../../platform/text/translations.ts';
import { auditGame } from '../../records/audit/audit.ts';
import { lockGame, requireGame, tagOptionsChanged } from '../games/games.ts';
import {
  addTagGroup,
  addTags,
  changeTagGroup,
  groupField,
  type NewTagGroup,
  removeTagGroup,
  removeTags,
  type Tag,
  type TagGroup,
  tagField,
  tagGroupsOf,
} from '../tag-options/tag-options.ts';
import { MANAGER, teamLevel } from '../teams/teams.ts';
import { REFRESH_MODS, RENAME_TAG } from './refreshing.ts';
import * as store from './store.ts';

type Texts = Readonly<Record<string, string>>;

export interface TagOptions extends NewTagGroup {
  readonly name_localization?: Texts | undefined;
  readonly tags_localization?: readonly { tag: string; translations: Texts }[] | undefined;
}

/** Adds a group, or tags to an existing group, which then takes the settings that were sent. */
export async function addTagOptions(app: App, caller: UserCaller, gameId: number, options: TagOptions): Promise<void> {
  await app.db.write(async (transaction) => {
    const groups = await groupsFor(transaction, caller, gameId, 'GAME_TAGS_NO_ADD_PERMISSION');
    const known = groups.find((group) => isSame(group.name, options.name));
    const others = groups.filter((group) => group !== known).flatMap(({ tags }) => tags);
    await refuseDuplicates(transaction, gameId, others, options.tags);
    const group = known
      ? await extended(app, transaction, known, options)
      : await addTagGroup(transaction.query, gameId, nextPosition(groups), options);
    await translateGroup(transaction, gameId, group, options);
    await tagOptionsChanged(app, transaction, gameId);
    const data = { group: options.name, tags: options.tags };
    await auditGame(app, transaction, caller, gameId, { action: 'tags-add', data });
  });
}

/** Requires a manager of the game, and locks the game so that changes of its tags run one after another. */
async function groupsFor(
  transaction: Transaction,
  caller: Caller,
  gameId: number,
  refusal: ErrorName,
): Promise<TagGroup[]> {
  await requireGame(transaction, caller, gameId);
  if ((await teamLevel(transaction, caller, 'games', gameId)) < MANAGER) throw new ApiError(refusal);
  await lockGame(transaction, gameId);
  return tagGroupsOf(transaction.query, gameId);
}

const isSame = (one: string, other: string) => fold(one) === fold(other);
const nextPosition = (present: readonly { position: number }[]) =>
  Math.max(-1, ...present.map((each) => each.position)) + 1;

/** Mods name tags without their group, so names are unique per game, including the name of a rename in progress. */
async function refuseDuplicates(
  { query }: Transaction,
  gameId: number,
  others: readonly { name: string }[],
  names: readonly string[],
): Promise<void> {
  const rename = await store.renameOf(query, gameId);
  const taken = new Set([...others, ...(rename ? [rename] : [])].map(({ name }) => fold(name)));
  const wanted = new Set(names.map(fold));
  if (wanted.size < names.length || taken.intersection(wanted).size > 0) throw new ApiError('GAME_TAGS_NO_DUPLICATES');
}

async function extended(app: App, transaction: Transaction, group: TagGroup, options: TagOptions): Promise<TagGroup> {
  const { query } = transaction;
  await changeTagGroup(query, group.id, options);
  const names = options.tags.filter((name) => !group.tags.some((tag) => isSame(tag.name, name)));
  const added = await addTags(query, group.id, nextPosition(group.tags), names);
  await refreshLater(app, transaction, group.tags);
  return { ...group, tags: [...group.tags, ...added] };
}

async function translateGroup(
  { query }: Transaction,
  gameId: number,
  group: TagGroup,
  { name_localization = {}, tags_localization = [] }: TagOptions,
): Promise<void> {
  const fields: [field: string, texts: Texts][] = [[groupField(group.id), name_localization]];
  for (const { tag: name, translations } of tags_localization) {
    const tag = group.tags.find((each) => isSame(each.name, name));
    if (!tag) throw unknownTag('tags_localization', name);
    fields.push([tagField(tag.id), translations]);
  }
  for (const [field, texts] of fields)
    for (const [language, text] of Object.entries(texts))
      if (language !== 'en') await translate(query, 'games', gameId, languageNamed(language), { [field]: text });
}

function languageNamed(code: string): Language {
  const language = languageOf(code);
  if (!language)
    throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name_localization', rule: 'unknown_language' }] });
  return language;
}

export const unknownTag = (field: string, tag: string) =>
  new ApiError('VALIDATION_GENERIC', { fields: [{ field, rule: 'unknown_tag', values: { tag } }] });

/** Removes tags of a group, or the whole group if none are named. Mods lose them too. */
export async function removeTagOptions(
  app: App,
  caller: UserCaller,
  gameId: number,
  { name, tags: names }: { name: string; tags: readonly string[] },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const groups = await groupsFor(transaction, caller, gameId, 'GAME_TAGS_NO_DELETE_PERMISSION');
    const group = groups.find((each) => isSame(each.name, name));
    if (!group) throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'name', rule: 'invalid' }] });
    const tags = names.length === 0 ? group.tags : [...new Set(names.map((each) => tagIn(group, each)))];
    await dropTagOptions(app, transaction, gameId, { tags, ...(names.length === 0 && { groupId: group.id }) });
    const data = { group: name, tags: tags.map((tag) => tag.name) };
    await auditGame(app, transaction, caller, gameId, { action: 'tags-remove', data });
  });
}

/** Removes tags, and with `groupId` their group. */
export async function dropTagOptions(
  app: App,
  transaction: Transaction,
  gameId: number,
  { tags, groupId }: { readonly tags: readonly Pick<Tag, 'id'>[]; readonly groupId?: number },
): Promise<void> {
  const ids = tags.map(({ id }) => id);
  const fields = ids.map(tagField);
  await store.removePairs(transaction.query, ids);
  await removeTags(transaction.query, ids);
  if (groupId !== undefined) await removeTagGroup(transaction.query, groupId);
  await withdrawTranslations(transaction, gameId, groupId === undefined ? fields : [...fields, groupField(groupId)]);
  await refreshLater(app, transaction, tags);
  await tagOptionsChanged(app, transaction, gameId);
}

function tagIn(group: TagGroup, name: string): Tag {
  const tag = group.tags.find((each) => isSame(each.name, name));
  if (!tag) throw unknownTag('tags', name);
  return tag;
}

async function withdrawTranslations(transaction: Transaction, gameId: number, fields: readonly string[]) {
  const translations = await translationsIn(transaction, 'games', gameId);
  for (const field of fields)
    for (const language of Object.keys(translations[field] ?? {}) as Language[])
      await translate(transaction.query, 'games', gameId, language, { [field]: '' });
}

/** A job rewrites the documents, because there may be a million mods with these tags. */
async function refreshLater(app: App, transaction: Transaction, tags: readonly { id: number }[]): Promise<void> {
  if (tags.length > 0) await app.jobs.enqueue(transaction, REFRESH_MODS, { tagIds: tags.map(({ id }) => id) });
}

/** A job renames the tag on its mods. Until it has finished, no other tag of the game can be renamed. */
export async function renameTag(
  app: App,
  caller: UserCaller,
  gameId: number,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await app.db.write(async (transaction) => {
    const { query } = transaction;
    const groups = await groupsFor(transaction, caller, gameId, 'GAME_TAGS_NO_EDIT_PERMISSION');
    if (await store.renameOf(query, gameId))
      throw new ApiError('GAME_TAGS_RENAME_IN_PROGRESS', { fields: [{ field: 'from', rule: 'rename_running' }] });
    const tags = groups.flatMap((group) => group.tags);
    const tag = tags.find(({ name }) => isSame(name, from));
    if (!tag) throw new ApiError('GAME_TAGS_TAG_NOT_FOUND', { fields: [{ field: 'from', rule: 'no_such_tag' }] });
    if (tags.some(({ id, name }) => id !== tag.id && isSame(name, to)))
      throw new ApiError('VALIDATION_GENERIC', { fields: [{ field: 'to', rule: 'taken' }] });
    await store.addRename(query, { game_id: gameId, tag_id: tag.id, name: to, date_added: app.clock.now() });
    await app.jobs.enqueue(transaction, RENAME_TAG, { gameId }, { key: String(gameId) });
    await auditGame(app, transaction, caller, gameId, { action: 'tags-rename', data: { from, to } });
  });
}
