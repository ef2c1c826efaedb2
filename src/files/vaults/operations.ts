import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { Id, ModPath, Timestamp } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { putVault, removeVault, showVault } from './vaults.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

const opens = 'When downloads begin, in Unix seconds; 0 for no beginning';
const closes = 'When downloads end, in Unix seconds; 0 for no end';

const VaultObject = z
  .object({
    mod_id: Id,
    date_opens: Timestamp.meta({ description: opens }),
    date_closes: Timestamp.meta({ description: closes }),
  })
  .meta({ id: 'Vault' });

const whichOf = ({ game_id, mod_id }: { game_id: number; mod_id: number }) => ({ gameId: game_id, modId: mod_id });

export const getModVault = operation({
  id: 'get-mod-vault',
  tag: 'Files',
  method: 'GET',
  path: '/games/{game_id}/mods/{mod_id}/vault',
  says: 'Shows when the files of a mod can be downloaded.',
  access: reader(),
  params: ModPath,
  returns: ok(VaultObject),
  errors: NOT_FOUND,
  handle: (app, { caller, params }) => showVault(app, caller, whichOf(params)),
});

export const editModVault = operation({
  id: 'edit-mod-vault',
  tag: 'Files',
  method: 'PUT',
  path: '/games/{game_id}/mods/{mod_id}/vault',
  says: 'Limits downloads of a mod’s files to a period. Outside it only the teams of the mod and its game can download them; the mod itself stays visible. Allowed for managers of the mod and of its game.',
  access: user('write'),
  params: ModPath,
  body: z.object({
    date_opens: z.int().min(0).default(0).meta({ description: opens }),
    date_closes: z.int().min(0).default(0).meta({ description: closes }),
  }),
  returns: ok(VaultObject),
  errors: [...NOT_FOUND, 'MOD_NO_UPDATE_PERMISSION'],
  handle: (app, { caller, params, body }) => putVault(app, caller, whichOf(params), body),
});

export const deleteModVault = operation({
  id: 'delete-mod-vault',
  tag: 'Files',
  method: 'DELETE',
  path: '/games/{game_id}/mods/{mod_id}/vault',
  says: 'Removes the period: everyone who sees the mod can download its files at any time.',
  access: user('write'),
  params: ModPath,
  returns: noContent,
  errors: [...NOT_FOUND, 'MOD_NO_UPDATE_PERMISSION'],
  handle: (app, { caller, params }) => removeVault(app, caller, whichOf(params)),
});

export const vaultOperations = [getModVault, editModVault, deleteModVault];
