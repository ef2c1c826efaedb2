import { user } from '../../platform/access/caller.ts';
import { GamePath, pagesOnly } from '../../platform/http/objects.ts';
import { Created, created, noContent, ok, operation } from '../../platform/http/operation.ts';
import { NewPackBody, PackChangesBody } from './changes.ts';
import { GameTokenPacksObject, TokenPackObject, TokenPackPath, toGameTokenPack, toTokenPack } from './object.ts';
import { addPack, changePack, listPacks, removePack } from './packs.ts';

const REFUSALS = ['GAME_NOT_FOUND', 'GAME_DELETED', 'GAME_NO_UPDATE_PERMISSION'] as const;

export const getGameTokenPacks = operation({
  id: 'get-game-token-packs',
  tag: 'Monetization',
  method: 'GET',
  path: '/games/{game_id}/monetization/token-packs',
  says: 'Lists the token packs that a game sells, once per portal, the cheapest first. With a portal header, those of that portal. The fields of the first one also stand beside the list.',
  access: user('write', 'money'),
  params: GamePath,
  list: pagesOnly,
  returns: ok(GameTokenPacksObject),
  errors: ['GAME_NOT_FOUND', 'GAME_DELETED'],
  handle: async (app, { caller, params, portal, list: { limit, offset } }) => {
    const packs = (await listPacks(app, caller, params.game_id, portal)).map(toGameTokenPack);
    const data = packs.slice(offset, offset + limit);
    const envelope = { result_count: data.length, result_offset: offset, result_limit: limit };
    return { data, ...envelope, result_total: packs.length, ...data[0] };
  },
});

export const addGameTokenPack = operation({
  id: 'add-game-token-pack',
  tag: 'Monetization',
  method: 'POST',
  path: '/games/{game_id}/monetization/token-packs',
  says: 'Adds a token pack to what a game sells. For its administrators.',
  access: user('write', 'team'),
  once: true,
  params: GamePath,
  body: NewPackBody,
  returns: created(TokenPackObject),
  errors: REFUSALS,
  handle: async (app, { caller, params: { game_id }, body }) => {
    const pack = await addPack(app, caller, game_id, body);
    const path = `/games/${game_id}/monetization/token-packs/${pack.id}`;
    return new Created(toTokenPack(pack), `${app.addresses.gameApi(game_id)}${path}`);
  },
});

export const editGameTokenPack = operation({
  id: 'edit-game-token-pack',
  tag: 'Monetization',
  method: 'PUT',
  path: '/games/{game_id}/monetization/token-packs/{token_pack_id}',
  says: 'Changes a token pack. Payments that were begun keep the price and the tokens that they began with. For administrators of the game.',
  access: user('write', 'team'),
  params: TokenPackPath,
  body: PackChangesBody,
  returns: ok(TokenPackObject),
  errors: [...REFUSALS, 'RESOURCE_NOT_FOUND'],
  handle: async (app, { caller, params, body }) =>
    toTokenPack(await changePack(app, caller, params.game_id, params.token_pack_id, body)),
});

export const deleteGameTokenPack = operation({
  id: 'delete-game-token-pack',
  tag: 'Monetization',
  method: 'DELETE',
  path: '/games/{game_id}/monetization/token-packs/{token_pack_id}',
  says: 'Stops the sale of a token pack. Tokens that were bought with it stay. For administrators of the game.',
  access: user('write', 'team'),
  params: TokenPackPath,
  returns: noContent,
  errors: [...REFUSALS, 'RESOURCE_NOT_FOUND'],
  handle: (app, { caller, params }) => removePack(app, caller, params.game_id, params.token_pack_id),
});

export const packOperations = [getGameTokenPacks, addGameTokenPack, editGameTokenPack, deleteGameTokenPack];
