import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { MessageObject, ModPath, page, pageOf } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { MetadataPair, PAIRS_MAX, toKvp } from '../mods/metadata-pairs.ts';
import { MetadataKvpObject } from '../mods/object.ts';
import { addMetadata, listMetadata, metadataListing, removeMetadata } from './metadata.ts';

export const getModMetadata = operation({
  id: 'get-mod-kvp-metadata',
  tag: 'Metadata',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/metadatakvp',
  says: 'Lists the metadata of a mod: keys and values that its game understands.',
  access: reader(),
  params: ModPath,
  list: metadataListing,
  returns: ok(pageOf(MetadataKvpObject)),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'],
  handle: async (app, { caller, params, list }) => {
    const { pairs, total } = await listMetadata(app, caller, params.game_id, params.mod_id, list);
    return page(pairs.map(toKvp), total, list);
  },
});

export const addModMetadata = operation({
  id: 'add-mod-kvp-metadata',
  tag: 'Metadata',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/metadatakvp',
  says: 'Adds metadata to a mod, as `key:value`. A key can have many values. For managers and administrators of the mod’s team or its game.',
  access: user('write'),
  params: ModPath,
  body: z.object({ metadata: z.array(MetadataPair).min(1).max(PAIRS_MAX) }),
  rules: true,
  returns: created(MessageObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    'MOD_NO_UPDATE_PERMISSION',
    'MOD_METADATA_NO_ADD_PERMISSION',
  ],
  handle: async (app, { caller, params: { game_id, mod_id }, body, language }) => {
    await addMetadata(app, caller, game_id, mod_id, body.metadata);
    const address = `${app.addresses.gameApi(game_id)}/games/${game_id}/mods/${mod_id}/metadatakvp`;
    return new Created({ code: 201, message: localise('mod_metadata_added', language) }, address);
  },
});

export const deleteModMetadata = operation({
  id: 'delete-mod-kvp-metadata',
  tag: 'Metadata',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/metadatakvp',
  says: 'Removes metadata of a mod: `key:value` one pair, `key` all values of the key, and an empty list everything.',
  access: user('write'),
  params: ModPath,
  body: z.object({
    metadata: z
      .array(z.string())
      .max(PAIRS_MAX)
      .transform((named) => named.filter((each) => each !== '')),
  }),
  returns: noContent,
  errors: [
    'GAME_NOT_FOUND',
    'GAME_DELETED',
    'MOD_NOT_FOUND',
    'MOD_DELETED',
    'MOD_NO_UPDATE_PERMISSION',
    'MOD_METADATA_NO_DELETE_PERMISSION',
  ],
  handle: (app, { caller, params, body }) => removeMetadata(app, caller, params.game_id, params.mod_id, body.metadata),
});

export const metadataOperations = [getModMetadata, addModMetadata, deleteModMetadata];
