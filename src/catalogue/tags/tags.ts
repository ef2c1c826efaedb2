import type { Caller, UserCaller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { fold, type ListRequest } from '../../platform/database/listing.ts';
import { ApiError, type ErrorName } from '../../platform/errors/catalogue.ts';
import { translationsOf } from '../../platform/text/translations.ts';
import { lockGame, tagCountsChanged } from '../games/games.ts';
import { auditByGame } from '../mods/auditing.ts';
import {
  isPublic,
  type Levels,
  levelsOf,
  type ModRow,
  mayEdit,
  mayModerate,
  modChanged,
  requireMod,
  requireModForChange,
} from '../mods/mods.ts';
import { applyRulesToMod } from '../mods/rule-checks.ts';
import { addToCounts, type TagGroup, tagGroupsOf } from '../tag-options/tag-options.ts';
import { pairsOf } from './counts.ts';
import { modTagListing } from './listing.ts';
import { unknownTag } from './options.ts';
import * as store from './store.ts';

export async function listTagsOfMod(
  app: App,
  caller: Caller,
  { gameId, modId }: { gameId: number; modId: number },
  hidden: boolean,
  request: ListRequest,
) {
  await requireMod(app.db, caller, gameId, modId);
  const { tags, total } = await store.listTagsOfMod(app.db.query, modId, hidden, modTagListing, request);
  return { tags, total, translations: await translationsOf(app.db, 'games', gameId) };
}

/** Adds tags that the game offers. In a dropdown, a new tag replaces the old one. */
export async function addTagsToMod(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  names: readonly string[],
): Promise<void> {
  await app.db.write(async (transaction) => {
    const present = await requireModForChange(transaction, caller, gameId, modId);
    const levels = await levelsOf(transaction, caller, present);
    const groups = await optionsOf(transaction, levels, present, 'MOD_TAGS_NO_ADD_PERMISSION');
    requireOptions(groups);
    const chosen = choose(groups, names);
    requireMayUse(levels, chosen, 'MOD_TAGS_NO_ADD_PERMISSION');
    requireOneOfDropdown(chosen);
    const mod = await applyRulesToMod(app, transaction, caller, present);
    const tags = await store.tagsOfMod(transaction, modId);
    await changeTags(app, transaction, caller, mod, {
      added: chosen.filter(({ id }) => !tags.some((tag) => tag.id === id)),
      removed: tags.filter((tag) => chosen.some((other) => isInsteadOf(other, tag))),
    });
  });
}

/** Removes tags from a mod; without names, all that the caller may remove. */
export async function removeTagsFromMod(
  app: App,
  caller: UserCaller,
  gameId: number,
  modId: number,
  names: readonly string[],
): Promise<void> {
  await app.db.write(async (transaction) => {
    const mod = await requireModForChange(transaction, caller, gameId, modId);
    const levels = await levelsOf(transaction, caller, mod);
    const groups = await optionsOf(transaction, levels, mod, 'MOD_TAGS_NO_DELETE_PERMISSION');
    const chosen = choose(groups, names);
    requireMayUse(levels, chosen, 'MOD_TAGS_NO_DELETE_PERMISSION');
    const present = await store.tagsOfMod(transaction, modId);
    const removed =
      names.length > 0
        ? present.filter(({ id }) => chosen.some((tag) => tag.id === id))
        : present.filter(({ locked }) => locked === 0 || isOfGameTeam(levels));
    await changeTags(app, transaction, caller, mod, { added: [], removed });
  });
}

/**
 * Replaces the tags that a mod shows, as part of an edit of the mod, which records the event. Hidden tags stay, and so
 * do locked ones, unless the game's team leaves them out.
 */
export async function replaceTagsOfMod(
  app: App,
  transaction: Transaction,
  levels: Levels,
  mod: ModRow,
  names: readonly string[],
): Promise<void> {
  const groups = await optionsOf(transaction, levels, mod, 'MOD_TAGS_NO_ADD_PERMISSION');
  if (names.length > 0) requireOptions(groups);
  const chosen = choose(groups, names);
  requireOneOfDropdown(chosen);
  const present = await store.tagsOfMod(transaction, mod.id);
  const added = chosen.filter(({ id }) => !present.some((tag) => tag.id === id));
  requireMayUse(levels, added, 'MOD_TAGS_NO_ADD_PERMISSION');
  const removed = present.filter((tag) => {
    const isLeftOut = !chosen.some(({ id }) => id === tag.id);
    const isTheirs = tag.hidden === 0 && (tag.locked === 0 || isOfGameTeam(levels));
    return (isLeftOut && isTheirs) || chosen.some((other) => isInsteadOf(other, tag));
  });
  await writeTags(app, transaction, mod, { added, removed });
}

function requireOptions(groups: readonly TagGroup[]): void {
  if (groups.every(({ tags }) => tags.length === 0)) throw new ApiError('GAME_TAGS_NO_OPTIONS_SET');
}

/** Locks the game's tags until the transaction ends. */
async function optionsOf(
  transaction: Transaction,
  levels: Levels,
  mod: ModRow,
  refusal: ErrorName,
): Promise<TagGroup[]> {
  if (!mayEdit(levels) && !mayModerate(levels)) throw new ApiError(refusal);
  await lockGame(transaction, mod.game_id);
  return tagGroupsOf(transaction.query, mod.game_id);
}

interface Chosen {
  readonly id: number;
  readonly name: string;
  readonly group: TagGroup;
}

function choose(groups: readonly TagGroup[], names: readonly string[]): Chosen[] {
  const offered = new Map<string, Chosen>();
  for (const group of groups)
    for (const { id, name } of group.tags) if (!offered.has(fold(name))) offered.set(fold(name), { id, name, group });
  const chosen = new Map<number, Chosen>();
  for (const name of names) {
    const tag = offered.get(fold(name));
    if (!tag) throw unknownTag('tags', name);
    chosen.set(tag.id, tag);
  }
  return [...chosen.values()];
}

/** Every member of the game's team, including moderators. */
const isOfGameTeam = ({ game }: Levels) => game > 0;

function requireMayUse(levels: Levels, chosen: readonly Chosen[], refusal: ErrorName): void {
  if (!isOfGameTeam(levels) && chosen.some(({ group }) => group.locked === 1)) throw new ApiError(refusal);
}

function requireOneOfDropdown(chosen: readonly Chosen[]): void {
  const dropdowns = chosen.filter(({ group }) => group.type === 'dropdown').map(({ group }) => group);
  const twice = dropdowns.find((group, index) => dropdowns.indexOf(group) !== index);
  if (twice)
    throw new ApiError('VALIDATION_GENERIC', {
      fields: [{ field: 'tags', rule: 'one_tag_of_group', values: { group: twice.name } }],
    });
}

const isInsteadOf = ({ id, group }: Chosen, present: store.ModTag) =>
  group.type === 'dropdown' && group.id === present.group_id && id !== present.id;

async function changeTags(
  app: App,
  transaction: Transaction,
  caller: UserCaller,
  mod: ModRow,
  { added, removed }: { added: readonly Chosen[]; removed: readonly store.ModTag[] },
): Promise<void> {
  if (added.length === 0 && removed.length === 0) return;
  await writeTags(app, transaction, mod, { added, removed });
  await modChanged(app, transaction, mod, { userId: caller.userId });
  const names = (tags: readonly { name: string }[]) => tags.map(({ name }) => name);
  const data = { added: names(added), removed: names(removed) };
  await auditByGame(app, transaction, caller, mod, { action: 'mods.tags', data });
}

async function writeTags(
  app: App,
  transaction: Transaction,
  mod: ModRow,
  { added, removed }: { added: readonly Chosen[]; removed: readonly store.ModTag[] },
): Promise<void> {
  const { query } = transaction;
  const [addedIds, removedIds] = [added.map(({ id }) => id), removed.map(({ id }) => id)];
  const date_added = app.clock.now();
  const before = (await store.tagsOfMod(transaction, mod.id)).map(({ id }) => id);
  await store.untagMods(query, [mod.id], removedIds);
  await store.tagMod(
    query,
    added.map(({ id, name }) => ({
      mod_id: mod.id,
      tag_id: id,
      name_folded: fold(name),
      date_added,
      shown: Number(isPublic(mod)),
      popularity: mod.popularity,
    })),
  );
  if (isPublic(mod) && addedIds.length + removedIds.length > 0) {
    await addToCounts(query, addedIds, 1);
    await addToCounts(query, removedIds, -1);
    await store.addToPairs(query, pairsOf(before), -1);
    await store.addToPairs(query, pairsOf([...before.filter((id) => !removedIds.includes(id)), ...addedIds]), 1);
    await tagCountsChanged(transaction, mod.game_id);
  }
}
