import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { GamePath, MessageObject, ModPath, page, pageOf } from '../../platform/http/objects.ts';
import { accepted, Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { ModTagObject } from '../mods/object.ts';
import { PlatformNames, TAGS_MAX, TagNames } from '../tag-options/object.ts';
import { modTagListing } from './listing.ts';
import { toModTag } from './object.ts';
import { addTagOptions, removeTagOptions, renameTag } from './options.ts';
import { addTagsToMod, listTagsOfMod, removeTagsFromMod } from './tags.ts';

/** Filters separate tags by commas, so a name has none. */
const Name = z
  .string()
  .trim()
  .min(1)
  .max(50)
  .regex(/^[^,]*$/);
const Texts = z.record(z.string(), z.string().trim().max(50));

export const addGameTagOptions = operation({
  id: 'add-game-tag-options',
  tag: 'Tags',
  method: 'POST',
  path: '/games/{game_id}/tags',
  says: 'Adds a group of tags that mods of the game can have, or tags to an existing group. For managers and administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({
    name: Name,
    type: z.enum(['dropdown', 'checkboxes']).meta({ description: 'A mod has at most one tag of a dropdown.' }),
    hidden: z.boolean().default(false).meta({ description: 'For filters only: not shown with mods.' }),
    locked: z.boolean().default(false).meta({ description: 'Only the game’s team puts it on mods.' }),
    tags: z.array(Name).min(1).max(TAGS_MAX),
    platforms: PlatformNames.optional().meta({
      description: 'On which players may filter by these tags; all platforms unless given.',
    }),
    name_localization: Texts.optional().meta({ description: 'The name of the group by language.' }),
    tags_localization: z
      .array(z.object({ tag: Name, translations: Texts }))
      .max(TAGS_MAX)
      .optional()
      .meta({ description: 'The names of tags by language.' }),
  }),
  returns: created(MessageObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_TAGS_NO_ADD_PERMISSION', 'GAME_TAGS_NO_DUPLICATES'],
  handle: async (app, { caller, params, body, language }) => {
    await addTagOptions(app, caller, params.game_id, body);
    const address = `${app.addresses.gameApi(params.game_id)}/games/${params.game_id}/tags`;
    return new Created({ code: 201, message: localise('game_tags_added', language) }, address);
  },
});

export const deleteGameTagOptions = operation({
  id: 'delete-game-tag-options',
  tag: 'Tags',
  method: 'DELETE',
  path: '/games/{game_id}/tags',
  says: 'Removes tags of a group, or with an empty list the whole group. Mods lose these tags. For managers and administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ name: z.string().trim().min(1).max(50), tags: TagNames }),
  returns: noContent,
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_TAGS_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params, body }) => removeTagOptions(app, caller, params.game_id, body),
});

export const renameGameTag = operation({
  id: 'rename-game-tag',
  tag: 'Tags',
  method: 'PUT',
  path: '/games/{game_id}/tags/rename',
  says: 'Renames a tag of a game. Its mods are updated in the background; until that has finished, no other tag of the game can be renamed. For managers and administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: z.object({ from: z.string().trim().min(1).max(50), to: Name }),
  returns: accepted(MessageObject),
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'GAME_TAGS_NO_EDIT_PERMISSION',
    'GAME_TAGS_RENAME_IN_PROGRESS',
    'GAME_TAGS_TAG_NOT_FOUND',
  ],
  handle: async (app, { caller, params, body, language }) => {
    await renameTag(app, caller, params.game_id, body);
    return { code: 202, message: localise('game_tag_renaming', language) };
  },
});

export const getModTags = operation({
  id: 'get-mod-tags',
  tag: 'Tags',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/tags',
  says: 'Lists the tags of a mod.',
  access: reader(),
  params: ModPath,
  query: z.object({
    show_hidden_tags: z
      .boolean()
      .default(false)
      .meta({ description: 'Also shows tags of hidden groups, which are for filters only.' }),
  }),
  list: modTagListing,
  returns: ok(pageOf(ModTagObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'],
  handle: async (app, { caller, params, query, list, language }) => {
    const mod = { gameId: params.game_id, modId: params.mod_id };
    const { tags, total, translations } = await listTagsOfMod(app, caller, mod, query.show_hidden_tags, list);
    return page(
      tags.map((tag) => toModTag(tag, translations, language)),
      total,
      list,
    );
  },
});

export const addModTags = operation({
  id: 'add-mod-tags',
  tag: 'Tags',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/tags',
  says: 'Adds tags of its game to a mod. For its managers and administrators, and for the game’s team, which alone may use locked tags. In a dropdown the new tag replaces the old one.',
  access: user('write'),
  params: ModPath,
  body: z.object({ tags: z.array(z.string().trim().min(1).max(50)).min(1).max(TAGS_MAX) }),
  rules: true,
  returns: created(MessageObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    'MOD_TAGS_NO_ADD_PERMISSION',
    'GAME_TAGS_NO_OPTIONS_SET',
  ],
  handle: async (app, { caller, params: { game_id, mod_id }, body, language }) => {
    await addTagsToMod(app, caller, game_id, mod_id, body.tags);
    const address = `${app.addresses.gameApi(game_id)}/games/${game_id}/mods/${mod_id}/tags`;
    return new Created({ code: 201, message: localise('mod_tags_added', language) }, address);
  },
});

export const deleteModTags = operation({
  id: 'delete-mod-tags',
  tag: 'Tags',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/tags',
  says: 'Removes tags from a mod, or with an empty list all. For its managers and administrators, and for the game’s team, which alone may remove locked tags.',
  access: user('write'),
  params: ModPath,
  body: z.object({ tags: TagNames }),
  returns: noContent,
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED', 'MOD_TAGS_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params, body }) => removeTagsFromMod(app, caller, params.game_id, params.mod_id, body.tags),
});

export const tagOperations = [
  addGameTagOptions,
  deleteGameTagOptions,
  renameGameTag,
  getModTags,
  addModTags,
  deleteModTags,
];
