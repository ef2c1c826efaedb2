import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { MessageObject, ModPath } from '../../platform/http/objects.ts';
import { Created, created, noContent, operation, type Upload } from '../../platform/http/operation.ts';
import { localise } from '../../platform/localisation/texts.ts';
import { addMedia, IMAGES_MAX, LINKS_MAX, removeMedia, reorderMedia } from './media.ts';
import { IMAGE_BYTES_MAX } from './uploads.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
const ARCHIVE_BYTES_MAX = 100 * 1_024 * 1_024;
const PICTURE = 'PNG, JPEG, GIF or WebP';

/** Clients send `name[]=` for an empty list. */
const Names = (max: number) =>
  z
    .array(z.string().max(500))
    .max(max)
    .transform((names) => names.filter((name) => name !== ''));

const Links = {
  youtube: Names(LINKS_MAX).meta({
    description: 'Addresses of videos, in any form that YouTube uses.',
  }),
  sketchfab: Names(LINKS_MAX).meta({ description: 'Addresses of models on Sketchfab.' }),
};

const NamedMediaBody = z
  .object({ images: Names(IMAGES_MAX).meta({ description: 'Filenames, as in the `media` of the mod.' }), ...Links })
  .partial();

const placeOf = ({ game_id, mod_id }: z.output<typeof ModPath>) => ({ gameId: game_id, modId: mod_id });

export const addModMedia = operation({
  id: 'add-mod-media',
  tag: 'Media',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/media',
  says: 'Adds images and links to a mod, and replaces its logo. For managers and administrators of the mod’s team or its game.',
  access: user('write'),
  params: ModPath,
  body: z
    .object({
      ...Links,
      sync: z.boolean().meta({
        description: 'The sent media replace all existing media of the same kind: images, videos, models.',
      }),
    })
    .partial(),
  files: {
    logo: { bytesMax: IMAGE_BYTES_MAX, says: `${PICTURE} of at least 512 by 288 pixels.` },
    image: { bytesMax: IMAGE_BYTES_MAX, numbered: true, says: `${PICTURE}, and more of them with further numbers.` },
    images: { bytesMax: ARCHIVE_BYTES_MAX, many: true, says: `A zip of images, or images: ${PICTURE}.` },
  },
  rules: true,
  returns: created(MessageObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    ...NOT_FOUND,
    'MOD_MEDIA_NO_ADD_PERMISSION',
    'MEDIA_EXCEEDS_FILE_CAPACITY',
    'MEDIA_EXCEEDS_DIRECTORY_CAPACITY',
  ],
  handle: async (app, { caller, params, body, files, uploads, language }) => {
    const { sync = false, youtube, sketchfab } = body;
    const images = uploads.filter(({ field }) => field !== 'logo').map(toImage);
    await addMedia(app, caller, placeOf(params), { logo: files['logo'], images, youtube, sketchfab, sync });
    const address = `${app.addresses.gameApi(params.game_id)}/games/${params.game_id}/mods/${params.mod_id}`;
    return new Created({ code: 201, message: localise('mod_media_added', language) }, address);
  },
});

const toImage = ({ field, key, sha256, bytes }: Upload) => ({
  field,
  key,
  sha256,
  bytes,
  mayBeArchive: field === 'images',
});

export const deleteModMedia = operation({
  id: 'delete-mod-media',
  tag: 'Media',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/media',
  says: 'Removes images and links from a mod: the named ones, or all of a kind whose list is empty.',
  access: user('write'),
  params: ModPath,
  body: NamedMediaBody,
  returns: noContent,
  errors: [...NOT_FOUND, 'MOD_MEDIA_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params, body }) => removeMedia(app, caller, placeOf(params), body),
});

export const reorderModMedia = operation({
  id: 'reorder-mod-media',
  tag: 'Media',
  method: 'PUT',
  path: '/games/{game_id}/mods/{mod_id}/media/reorder',
  says: 'Reorders the images and links of a mod. The request must name all media of each sent kind, and nothing else.',
  access: user('write'),
  params: ModPath,
  body: NamedMediaBody,
  returns: noContent,
  errors: [...NOT_FOUND, 'MOD_MEDIA_NO_DELETE_PERMISSION', 'MOD_MEDIA_REORDER_ONLY'],
  handle: (app, { caller, params, body }) => reorderMedia(app, caller, placeOf(params), body),
});

export const mediaOperations = [addModMedia, deleteModMedia, reorderModMedia];
