import { z } from 'zod';
import { reader, user } from '../../platform/access/caller.ts';
import { Id, ModPath, Timestamp } from '../../platform/http/objects.ts';
import { noContent, ok, operation } from '../../platform/http/operation.ts';
import { putVault, removeVault, showVault } from './vaults.ts';

const NOT_FOUND = ['GAME_NOT_FOUND', 'GAME_DELETED', 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;

const opens = 'The second from which its files can be downloaded; 0 for from the beginning';
const closes = 'The second from which they no longer can be; 0 for never';

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
  says: 'Tells when the files of a mod can be downloaded.',
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
  says: 'Keeps the files of a mod for a time: nobody but its team and that of its game downloads them before it begins or after it is over. The mod itself is seen meanwhile. Managers of the mod and of its game may.',
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
  says: 'Lets everyone who sees the mod download its files again, at any time.',
  access: user('write'),
  params: ModPath,
  returns: noContent,
  errors: [...NOT_FOUND, 'MOD_NO_UPDATE_PERMISSION'],
  handle: (app, { caller, params }) => removeVault(app, caller, whichOf(params)),
});

export const vaultOperations = [getModVault, editModVault, deleteModVault];
