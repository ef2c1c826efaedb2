import { reader, user } from '../../platform/access/caller.ts';
import { GamePath, page, pageOf } from '../../platform/http/objects.ts';
import { ok, operation } from '../../platform/http/operation.ts';
import { changeFileTypes, requireFileTypes } from './file-types.ts';
import { findingListing, listFindings } from './findings.ts';
import { FileTypesBody, FileTypesObject, FindingObject, toFileTypes, toFinding } from './object.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED'] as const;

export const getGameFindings = operation({
  id: 'get-game-findings',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/findings',
  says: 'Lists what was found in files of the game’s mods: threats, what may be harmful, what could not be scanned, and types of files that the game wants to hear of. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: findingListing,
  returns: ok(pageOf(FindingObject)),
  errors: [...NOT_FOUND, 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, list }) => {
    const { rows, total } = await listFindings(app, caller, params.game_id, list);
    return page(rows.map(toFinding), total, list);
  },
});

export const getGameFileTypes = operation({
  id: 'get-game-file-types',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/file-types',
  says: 'Shows which types of files a game refuses in archives, and which its team is told of.',
  access: reader(),
  params: GamePath,
  returns: ok(FileTypesObject),
  errors: NOT_FOUND,
  handle: async (app, { caller, params }) => toFileTypes(await requireFileTypes(app, caller, params.game_id)),
});

export const editGameFileTypes = operation({
  id: 'edit-game-file-types',
  tag: 'Games',
  method: 'PUT',
  path: '/games/{game_id}/file-types',
  says: 'Sets which types of files a game refuses in new archives, and which its team is told of. A list that is not sent stays. Managers and administrators of the game may.',
  access: user('write', 'team'),
  params: GamePath,
  body: FileTypesBody,
  returns: ok(FileTypesObject),
  errors: [...NOT_FOUND, 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, body }) =>
    toFileTypes(await changeFileTypes(app, caller, params.game_id, body)),
});

export const findingOperations = [getGameFindings, getGameFileTypes, editGameFileTypes];
