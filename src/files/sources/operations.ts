import { z } from 'zod';
import { ModfileObject, modfileJson } from '../../catalogue/live-files/object.ts';
import { PLAN_REFUSALS } from '../../catalogue/plans/plans.ts';
import { anyone, user } from '../../platform/access/caller.ts';
import { ModPath, PathId, pageOf, pageOfJson } from '../../platform/http/objects.ts';
import { Bytes, Created, created, Json, noContent, ok, operation, storedFile } from '../../platform/http/operation.ts';
import { FILEDATA, INCOMING_ERRORS, incomingOf } from '../modfiles/incoming.ts';
import { NewSourceBody, sourceListing } from '../modfiles/object.ts';
import { listSources } from '../modfiles/sources.ts';
import { addCookedSource, deleteSource, requireSourceByLink } from './sources.ts';

const ZIP = 'application/zip';

const PATH = '/games/{game_id}/mods/{mod_id}/sources';
const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
const SourcePath = ModPath.extend({ source_id: PathId });

const whichOf = ({ game_id, mod_id }: { game_id: number; mod_id: number }) => ({ gameId: game_id, modId: mod_id });

export const browseSourceModfiles = operation({
  id: 'browse-source-modfiles',
  tag: 'Sources',
  method: 'GET',
  path: PATH,
  says: 'Lists the sources of a mod, from which files for locked platforms are cooked. Allowed for the teams of the mod and its game.',
  access: user('read'),
  params: ModPath,
  list: sourceListing,
  returns: ok(pageOf(ModfileObject)),
  errors: [...NOT_FOUND, 'MODFILE_CANNOT_INSPECT_FILES'],
  handle: async (app, { caller, params, list }) => {
    const { files, total } = await listSources(app, caller, whichOf(params), list);
    return pageOfJson(
      files.map((file) => modfileJson(app, file, { alone: false })),
      total,
      list,
    );
  },
});

export const addSourceModfile = operation({
  id: 'add-source-modfile',
  tag: 'Sources',
  method: 'POST',
  path: PATH,
  says: 'Adds a source from the request or from a multipart upload. It is cooked for each locked platform that the game cooks, and the cooked files go live like other files unless `active` is false. Allowed for managers and administrators of the mod’s team or its game.',
  access: user('write'),
  params: ModPath,
  body: NewSourceBody,
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
    'GAME_CANT_HAVE_PLATFORM_SPECIFIC_FILES',
    ...INCOMING_ERRORS,
  ],
  handle: async (app, { caller, params, body: { upload_id: uploadId, ...body }, files }) => {
    const incoming = incomingOf(files, uploadId);
    const file = await addCookedSource(app, caller, whichOf(params), incoming, body);
    const { id, mod_id, game_id } = file;
    const address = `${app.addresses.gameApi(game_id)}/games/${game_id}/mods/${mod_id}/sources/${id}`;
    return new Created(new Json(modfileJson(app, file, { alone: true })), address);
  },
});

export const deleteSourceModfile = operation({
  id: 'delete-source-modfile',
  tag: 'Sources',
  method: 'DELETE',
  path: `${PATH}/{source_id}`,
  says: 'Deletes a source and cancels its cooks; files that were cooked from it stay. Allowed for its uploader and for administrators of the game.',
  access: user('write'),
  ends: ['modfiles'],
  names: { modfiles: ({ params }) => [params.source_id] },
  params: SourcePath,
  returns: noContent,
  errors: [...NOT_FOUND, 'MODFILE_NOT_FOUND', 'MODFILE_NO_DELETE_PERMISSION'],
  handle: (app, { caller, params }) => deleteSource(app, caller, whichOf(params), params.source_id),
});

export const downloadSourceModfile = operation({
  id: 'download-source-modfile',
  tag: 'Sources',
  method: 'GET',
  path: `${PATH}/{source_id}/download/{source_hash}`,
  says: 'Downloads a source by a signed link, until the link expires or the source is taken down. Only the teams of the mod and its game get such links.',
  access: anyone(),
  params: SourcePath.extend({ source_hash: z.string() }),
  returns: storedFile(ZIP),
  errors: [...NOT_FOUND, 'MODFILE_NOT_FOUND'],
  handle: async (app, { params }) => {
    const file = await requireSourceByLink(app, whichOf(params), params.source_id, params.source_hash);
    const { storage_key: key, filesize: bytes, sha256, filename, date_added: dateModified } = file;
    return new Bytes({ key, bytes, sha256, filename, type: ZIP, dateModified });
  },
});

export const sourceOperations = [browseSourceModfiles, addSourceModfile, deleteSourceModfile, downloadSourceModfile];
