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
  says: 'Lists the findings in files of the game’s mods: threats, potentially harmful files, files that could not be scanned, and reported file types. For its team.',
  access: user('read', 'team'),
  params: GamePath,
  list: findingListing,
  returns: ok(pageOf(FindingObject)),
  errors: [...NOT_FOUND, 'RESOURCE_NO_MODERATE_PERMISSION'],
  handle: async (app, { caller, params, list, language }) => {
    const { rows, total } = await listFindings(app, caller, params.game_id, list);
    return page(
      rows.map((row) => toFinding(row, language)),
      total,
      list,
    );
  },
});

export const getGameFileTypes = operation({
  id: 'get-game-file-types',
  tag: 'Games',
  method: 'GET',
  path: '/games/{game_id}/file-types',
  says: 'Shows which file types a game refuses in archives, and which are reported to its team.',
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
  says: 'Sets which file types a game refuses in new archives, and which are reported to its team. A list that is not sent stays. For managers and administrators of the game.',
  access: user('write', 'team'),
  params: GamePath,
  body: FileTypesBody,
  returns: ok(FileTypesObject),
  errors: [...NOT_FOUND, 'GAME_NO_UPDATE_PERMISSION'],
  handle: async (app, { caller, params, body }) =>
    toFileTypes(await changeFileTypes(app, caller, params.game_id, body)),
});

export const findingOperations = [getGameFindings, getGameFileTypes, editGameFileTypes];
