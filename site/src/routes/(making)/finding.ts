import type { Client, Output } from '@modstead/client';
import { error, type RequestEvent } from '@sveltejs/kit';
import { apiOf, clientOf } from '#api';

export type Mod = Output<'GET /games/{game_id}/mods/{mod_id}'>;

/** The texts that a form changes are the English ones; translations have a page of their own. */
export const ORIGINAL = 'en';

/** The game of an address. */
async function gameIdOf(api: Client, name: string): Promise<number> {
  const { data } = await api.call('GET /games', { name_id: name, _limit: 1 });
  if (!data[0]) error(404, { message: '' });
  return data[0].id;
}

/** The mod of an address, in every state that its team or the game's team may see. */
export async function findMod(api: Client, gameId: number, name: string): Promise<Mod> {
  const wanted = { name_id: name, _limit: 1 };
  const inEnglish = { language: ORIGINAL };
  const states = { 'status-in': [0, 1], 'visible-in': [0, 1] };
  const { data } = await api.call('GET /games/{game_id}/mods', { game_id: gameId, ...wanted, ...states }, inEnglish);
  if (data[0]) return data[0];
  const deleted = await api.call('GET /me/mods', { game_id: gameId, ...wanted, status: 3 }, inEnglish);
  if (!deleted.data[0]) error(404, { message: '' });
  return deleted.data[0];
}

/** The API, and the ids of what the address names. Ids in forms could name something else than the page shows. */
export async function modOf(event: RequestEvent) {
  const api = apiOf(event);
  const gameId = await gameIdOf(api, event.params['game']!);
  const mod = await findMod(api, gameId, event.params['mod']!);
  return { api, client: clientOf(event), mod, named: { game_id: gameId, mod_id: mod.id } };
}

/** The API, and the game of the address. */
export async function gameOf(event: RequestEvent) {
  const api = apiOf(event);
  return { api, named: { game_id: await gameIdOf(api, event.params['game']!) } };
}

/** A guide of the address, as its author or the game's team sees it. */
export async function guideOf(event: RequestEvent) {
  const { api, named } = await gameOf(event);
  const wanted = { ...named, name_id: event.params['guide']!, 'status-in': [0, 1], _limit: 1 };
  const { data } = await api.call('GET /games/{game_id}/guides', wanted);
  if (!data[0]) error(404, { message: '' });
  return { api, guide: data[0], named: { ...named, guide_id: data[0].id } };
}

/** A collection of the address. Hidden ones are found among the caller's own. */
export async function collectionOf(event: RequestEvent) {
  const { api, named } = await gameOf(event);
  const wanted = { name_id: event.params['collection']!, _limit: 1 };
  const own = await api.call('GET /me/collections', { ...named, ...wanted });
  const found = own.data[0] ?? (await api.call('GET /games/{game_id}/collections', { ...named, ...wanted })).data[0];
  if (!found) error(404, { message: '' });
  return { api, collection: found, named: { ...named, collection_id: found.id } };
}
