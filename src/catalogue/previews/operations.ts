import { z } from 'zod';
import { user } from '../../platform/access/caller.ts';
import { GamePath, Id, ModPath, PathId, page, pageOf } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { PreviewerObject, PreviewLinkObject, toPreviewer, toPreviewLink } from './object.ts';
import {
  invitePreviewer,
  listPreviewers,
  type Place,
  previewerListing,
  previewLink,
  registerPreviewer,
  removePreviewer,
  renewPreviewLink,
} from './previews.ts';

const GAME = ['GAME_NOT_FOUND', 'GAME_DELETED'] as const;
const MOD = [...GAME, 'MOD_NOT_FOUND', 'MOD_DELETED'] as const;
const CLOSED = ['PREVIEWER_REGISTRATION_DISABLED', 'PREVIEWER_REGISTRATION_RESOURCE_IS_PUBLIC'] as const;

/** The operations of games and mods differ only in their paths and errors. */
const ofGames = {
  name: 'game',
  path: '/games/{game_id}',
  params: GamePath,
  placeOf: ({ game_id }: { game_id: number }): Place => ({ gameId: game_id }),
  errors: [...GAME, 'GAME_NO_UPDATE_PERMISSION'],
} as const;
const ofMods = {
  name: 'mod',
  path: '/games/{game_id}/mods/{mod_id}',
  params: ModPath,
  placeOf: ({ game_id, mod_id }: { game_id: number; mod_id?: number }): Place => ({ gameId: game_id, modId: mod_id! }),
  errors: [...MOD, 'MOD_NO_UPDATE_PERMISSION'],
} as const;

function operationsOf({ name, path, params, placeOf, errors }: typeof ofGames | typeof ofMods) {
  const addressOf = (api: string, target: Record<string, number>) =>
    api + `${path}/previewers`.replace(/\{(\w+)\}/g, (_, name: string) => String(target[name]));
  const PreviewerPath = (params as typeof GamePath).extend({ user_id: PathId });
  const here = params as typeof GamePath;

  const list = operation({
    id: `get-${name}-previewers`,
    tag: 'Previews',
    method: 'GET',
    path: `${path}/previewers`,
    says: `Lists the users who may see the ${name} while it is hidden, and who invited them. For users who may edit it.`,
    access: user('read', 'team'),
    params: here,
    list: previewerListing,
    returns: ok(pageOf(PreviewerObject)),
    errors,
    handle: async (app, { caller, params: at, list: request, portal }) => {
      const { previewers, total } = await listPreviewers(app, caller, placeOf(at), request);
      return page(
        previewers.map((one) => toPreviewer(app, one, portal)),
        total,
        request,
      );
    },
  });

  const invite = operation({
    id: `add-${name}-previewer`,
    tag: 'Previews',
    method: 'POST',
    path: `${path}/previewers`,
    says: `Invites a user to see the ${name} while it is hidden. Needs bit 64 of its \`community_options\`. For users who may edit it.`,
    access: user('write', 'team'),
    under: ['users'],
    names: { users: ({ body }) => [body.user_id] },
    params: here,
    body: z.object({ user_id: Id }),
    returns: created(PreviewerObject),
    errors: [...errors, ...CLOSED, 'USER_NOT_FOUND', 'USER_IS_BLOCKED'],
    handle: async (app, { caller, params: at, body, portal }) => {
      const previewer = await invitePreviewer(app, caller, placeOf(at), body.user_id);
      return new Created(toPreviewer(app, previewer, portal), addressOf(app.addresses.gameApi(at.game_id), at));
    },
  });

  const remove = operation({
    id: `delete-${name}-previewer`,
    tag: 'Previews',
    method: 'DELETE',
    path: `${path}/previewers/{user_id}`,
    says: `Ends a user’s preview of the ${name}. For users who may edit it, and for the previewer.`,
    access: user('write', 'team'),
    params: PreviewerPath,
    returns: noContent,
    errors,
    handle: (app, { caller, params: at }) => removePreviewer(app, caller, placeOf(at), at.user_id),
  });

  const show = operation({
    id: `get-${name}-preview-link`,
    tag: 'Previews',
    method: 'GET',
    path: `${path}/preview`,
    says: `Shows the link with which users register to see the ${name} while it is hidden. Needs bit 128 of its \`community_options\`. For users who may edit it.`,
    access: user('read', 'team'),
    params: here,
    returns: ok(PreviewLinkObject),
    errors,
    handle: async (app, { caller, params: at }) => toPreviewLink(await previewLink(app, caller, placeOf(at))),
  });

  const renew = operation({
    id: `renew-${name}-preview-link`,
    tag: 'Previews',
    method: 'PUT',
    path: `${path}/preview`,
    says: `Creates a new preview link of the ${name}. The old one becomes invalid; users who registered with it remain previewers.`,
    access: user('write', 'team'),
    params: here,
    returns: ok(PreviewLinkObject),
    errors: [...errors, ...CLOSED],
    handle: async (app, { caller, params: at }) => toPreviewLink(await renewPreviewLink(app, caller, placeOf(at))),
  });

  const register = operation({
    id: `register-${name}-previewer`,
    tag: 'Previews',
    method: 'POST',
    path: `${path}/preview`,
    says: `Registers the caller as a previewer of the ${name} while it is hidden, with the hash of its link.`,
    access: user('write'),
    params: here,
    body: z.object({ hash: z.string().min(1).max(100) }),
    returns: created(PreviewerObject),
    errors: [...GAME, ...CLOSED, 'PREVIEWER_REGISTRATION_INVALID'],
    handle: async (app, { caller, params: at, body, portal }) => {
      const previewer = await registerPreviewer(app, caller, placeOf(at), body.hash);
      return new Created(toPreviewer(app, previewer, portal), addressOf(app.addresses.gameApi(at.game_id), at));
    },
  });

  return { list, invite, remove, show, renew, register };
}

export const gamePreviews = operationsOf(ofGames);
export const modPreviews = operationsOf(ofMods);

export const previewOperations = [...Object.values(gamePreviews), ...Object.values(modPreviews)];
