import { linksChangeAt } from '../../catalogue/live-files/links.ts';
import { ModfileObject, modfileJson, PlatformStatusQuery } from '../../catalogue/live-files/object.ts';
import { isVisibleToClass } from '../../catalogue/mods/access.ts';
import { PLAN_REFUSALS } from '../../catalogue/plans/plans.ts';
import { contentReader, user } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import { FilePath, ModPath, pageOf, pageOfAll, pageOfJson, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, Json, noContent, ok, operation } from '../../platform/http/operation.ts';
import { DecisionsBody, ModfileChangesBody, NewModfileBody } from './changes.ts';
import { FILEDATA, INCOMING_ERRORS, incomingOf } from './incoming.ts';
import { modfileListing } from './listing.ts';
import {
  addModfile,
  decidePlatforms,
  deleteModfile,
  editModfile,
  listContents,
  listModfiles,
  listOwnModfiles,
  requireModfile,
  type StoredFile,
} from './modfiles.ts';
import { ModfileEntryObject, toModfileEntry } from './object.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

const whichOf = ({ game_id, mod_id }: { game_id: number; mod_id: number }) => ({ gameId: game_id, modId: mod_id });
const alone = (app: App, file: StoredFile) => new Json(modfileJson(app, file, { alone: true }));

export const getModfiles = operation({
  id: 'get-modfiles',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/files',
  says: 'Lists the files of a mod that are or were live; with a platform, those that are approved for it. Only the teams of the mod and its game see files that were never live, were recalled, await approval, were denied or were taken down.',
  access: contentReader(),
  params: ModPath,
  query: PlatformStatusQuery,
  list: modfileListing,
  returns: ok(pageOf(ModfileObject)),
  errors: NOT_FOUND,
  handle: async (app, { caller, params, query, list, platform, cache, cacheUntil }) => {
    const asked = { platform, platformStatus: query.platform_status };
    const { files, total } = await listModfiles(app, caller, whichOf(params), list, asked);
    if (await isVisibleToClass(app.db, caller, params.mod_id))
      cache(`mods/${params.mod_id}`, `games/${params.game_id}`);
    cacheUntil(linksChangeAt(app.clock.now()));
    return pageOfFiles(app, files, total, list);
  },
});

export const getUserModfiles = operation({
  id: 'get-user-modfiles',
  tag: 'Me',
  method: 'GET',
  path: '/me/files',
  says: 'Lists the files that the user has uploaded and not deleted.',
  access: user('read'),
  query: PlatformStatusQuery,
  list: modfileListing,
  returns: ok(pageOf(ModfileObject)),
  errors: [],
  handle: async (app, { caller, query, list }) => {
    const asked = { platform: undefined, platformStatus: query.platform_status };
    const { files, total } = await listOwnModfiles(app, caller.userId, list, asked);
    return pageOfFiles(app, files, total, list);
  },
});

export const getModfile = operation({
  id: 'get-modfile',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}',
  says: 'Shows one file of a mod; with a platform, only if it is approved for it. The teams of the mod and its game see every file.',
  access: contentReader(),
  params: FilePath,
  returns: ok(ModfileObject),
  errors: [...NOT_FOUND, 'MODFILE_NOT_FOUND'],
  handle: async (app, { caller, params, platform, cache, cacheUntil }) => {
    const file = await requireModfile(app, caller, whichOf(params), params.file_id, platform);
    if (await isVisibleToClass(app.db, caller, params.mod_id))
      cache(`mods/${params.mod_id}`, `games/${params.game_id}`);
    cacheUntil(linksChangeAt(app.clock.now()));
    return alone(app, file);
  },
});

export const getModfileContents = operation({
  id: 'get-modfile-contents',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}/contents',
  says: 'Lists the files and folders in the archive. Allowed for the teams of the mod and its game.',
  access: user('read'),
  params: FilePath,
  list: pagesOnly,
  returns: ok(pageOf(ModfileEntryObject)),
  errors: [...NOT_FOUND, 'MODFILE_NOT_FOUND', 'MODFILE_CANNOT_INSPECT_FILES'],
  handle: async (app, { caller, params, list }) => {
    const entries = await listContents(app, caller, whichOf(params), params.file_id);
    return pageOfAll(entries.map(toModfileEntry), list);
  },
});

export const addModfileOperation = operation({
  id: 'add-modfile',
  tag: 'Files',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/files',
  says: 'Adds a file from the request or from a complete multipart upload. It becomes the live file unless `active` is false; on platforms that the game moderates it has to be approved and made active first. The first live file accepts the mod unless the game curates. Allowed for managers and administrators of the mod’s team or its game.',
  access: user('write'),
  params: ModPath,
  body: NewModfileBody,
  files: { filedata: FILEDATA },
  rules: true,
  once: true,
  returns: created(ModfileObject),
  errors: [
    'RULES_BASED_MODERATION_FAILURE',
    ...NOT_FOUND,
    'MODFILE_NO_UPLOAD_PERMISSION',
    'MOD_NO_UPLOAD_PERMISSION_BY_ADMIN',
    ...PLAN_REFUSALS,
    ...INCOMING_ERRORS,
  ],
  handle: async (app, { caller, params, body: { upload_id: uploadId, ...body }, files }) => {
    const incoming = incomingOf(files, uploadId);
    const file = await addModfile(app, caller, whichOf(params), incoming, body);
    const { id, mod_id, game_id } = file;
    const address = `${app.addresses.gameApi(game_id)}/games/${game_id}/mods/${mod_id}/files/${id}`;
    return new Created(alone(app, file), address);
  },
});

export const editModfileOperation = operation({
  id: 'edit-modfile',
  tag: 'Files',
  method: 'PUT',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}',
  says: 'Edits a file and sets whether it is live. Its bytes never change. Allowed for managers and administrators of the mod’s team or its game.',
  access: user('write'),
  params: FilePath,
  body: ModfileChangesBody,
  rules: true,
  returns: ok(ModfileObject),
  errors: ['RULES_BASED_MODERATION_FAILURE', ...NOT_FOUND, 'MODFILE_NOT_FOUND', 'MODFILE_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, body }) =>
    alone(app, await editModfile(app, caller, whichOf(params), params.file_id, body)),
});

export const deleteModfileOperation = operation({
  id: 'delete-modfile',
  tag: 'Files',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}',
  says: 'Deletes a file that is not live. Allowed for its uploader and for administrators of the game.',
  access: user('write'),
  ends: ['modfiles'],
  params: FilePath,
  returns: noContent,
  errors: [...NOT_FOUND, 'MODFILE_NOT_FOUND', 'MODFILE_NO_DELETE_PERMISSION', 'MODFILE_CANNOT_DELETE_ACTIVE_RELEASE'],
  handle: (app, { caller, params }) => deleteModfile(app, caller, whichOf(params), params.file_id),
});

export const managePlatformStatus = operation({
  id: 'manage-platform-status',
  tag: 'Files',
  method: 'POST',
  path: '/games/{game_id}/mods/{mod_id}/files/{file_id}/platforms',
  says: 'Approves or denies a file for platforms. An approved file goes live when it is next made active; a denied one is removed at once. Allowed for the game’s team.',
  access: user('write', 'team'),
  params: FilePath,
  body: DecisionsBody,
  returns: ok(ModfileObject),
  errors: [...NOT_FOUND, 'MODFILE_NOT_FOUND', 'MODFILE_NO_UPDATE_PERMISSION', 'GAME_CANT_HAVE_PLATFORM_SPECIFIC_FILES'],
  handle: async (app, { caller, params, body }) =>
    alone(app, await decidePlatforms(app, caller, whichOf(params), params.file_id, body)),
});

const pageOfFiles = (app: App, files: readonly StoredFile[], total: number, list: { limit: number; offset: number }) =>
  pageOfJson(
    files.map((file) => modfileJson(app, file, { alone: false })),
    total,
    list,
  );

export const modfileOperations = [
  getModfiles,
  getUserModfiles,
  getModfile,
  getModfileContents,
  addModfileOperation,
  editModfileOperation,
  deleteModfileOperation,
  managePlatformStatus,
];
