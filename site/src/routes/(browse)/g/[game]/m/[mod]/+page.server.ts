import { randomUUID } from 'node:crypto';
import type { Client } from '@modstead/client';
import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { contentLanguageNamed } from '#components/languages.ts';
import { commentActions, isOnGameTeam, missing } from '../../comment-actions.ts';
import type { PageServerLoadEvent } from './$types';

const COMMENTS_MAX = 100;
const FILES_MAX = 20;
const LINKS_MAX = 20;
const COLLECTIONS_MAX = 6;
/** Bits of `community_options` of games and mods. */
const COMMENTS = 1;
const NEGATIVE_VOTES = 256;
/** `revenue_type` of the API: free and paid mods. */
const FREE_AND_PAID = 2;

/** By the name in the address. Teams also find their own mods that are not public. */
async function findMod(
  api: Client,
  { gameId, name, language }: { gameId: number; name: string; language: string | undefined },
  isSignedIn: boolean,
) {
  const wanted = { game_id: gameId, name_id: name, revenue_type: FREE_AND_PAID, _limit: 1 };
  const read = { ...(language && { language }) };
  const { data } = await api.call('GET /games/{game_id}/mods', wanted, read);
  if (data[0] || !isSignedIn) return data[0];
  const all = { ...wanted, 'status-in': [0, 1], 'visible-in': [0, 1] };
  const own = await api.call('GET /games/{game_id}/mods', all, read);
  return own.data[0];
}

export async function load(event: PageServerLoadEvent) {
  const { game, me } = await event.parent();
  const { isSignedIn } = event.platform!;
  const api = apiOf(event);
  const language = contentLanguageNamed(event.url.searchParams.get('language'));
  const mod = (await findMod(api, { gameId: game.id, name: event.params.mod, language }, isSignedIn)) ?? missing();
  const named = { game_id: game.id, mod_id: mod.id };
  const [files, dependencies, dependants, team, comments, collections] = await Promise.all([
    api.call('GET /games/{game_id}/mods/{mod_id}/files', { ...named, _sort: '-date_added', _limit: FILES_MAX }),
    api.call('GET /games/{game_id}/mods/{mod_id}/dependencies', { ...named, recursive: true, _limit: LINKS_MAX }),
    api.call('GET /games/{game_id}/mods/{mod_id}/dependants', { ...named, _limit: LINKS_MAX }),
    api.call('GET /games/{game_id}/mods/{mod_id}/team', named),
    api.call('GET /games/{game_id}/mods/{mod_id}/comments', { ...named, _limit: COMMENTS_MAX }),
    api.call('GET /games/{game_id}/mods/{mod_id}/collections', { ...named, _limit: COLLECTIONS_MAX }),
  ]);
  const isGameTeam = await isOnGameTeam(event, game.id);
  return {
    mod,
    /** Of the mod’s texts, where the visitor asked for another one than the page’s. */
    readIn: language,
    files: files.data,
    dependencies: dependencies.data,
    dependants,
    team: team.data,
    comments: comments.data,
    collections: collections.data,
    allowsComments: (game.community_options & mod.community_options & COMMENTS) !== 0,
    allowsNegative: (game.community_options & NEGATIVE_VOTES) !== 0,
    mine: isSignedIn ? await mineOf(api, mod) : undefined,
    isGameTeam,
    days: await daysOf(api, named, isGameTeam || team.data.some(({ user }) => user.id === me?.id)),
  };
}

/** The last days, which teams may see. */
async function daysOf(api: Client, named: { game_id: number; mod_id: number }, isTeam: boolean) {
  if (!isTeam) return [];
  const days = await api.attempt('GET /games/{game_id}/mods/{mod_id}/metrics/days', { ...named, _limit: 100 });
  return days.ok ? days.value.data.toSorted((one, other) => one.date.localeCompare(other.date)) : [];
}

/** What the mod is to the visitor. */
async function mineOf(api: Client, mod: { id: number; game_id: number; price: number }) {
  const [subscribed, rated, bought, wallet] = await Promise.all([
    api.call('GET /me/subscribed', { id: mod.id, _limit: 1 }),
    api.call('GET /me/ratings', { mod_id: mod.id, resource_type: 'mods', _limit: 1 }),
    mod.price > 0 ? api.call('GET /me/purchased', { id: mod.id, _limit: 1 }) : undefined,
    mod.price > 0 ? api.attempt('GET /me/wallets', { game_id: mod.game_id }) : undefined,
  ]);
  return {
    isSubscribed: subscribed.data.length > 0,
    rating: rated.data[0]?.rating ?? 0,
    isBought: (bought?.data.length ?? 0) > 0,
    balance: wallet?.ok ? wallet.value.balance : 0,
    /** The purchase happens once, however often its form is sent. */
    purchaseKey: mod.price > 0 ? randomUUID() : undefined,
  };
}

async function formOf({ request }: RequestEvent) {
  const form = await request.formData();
  const number = (name: string) => Number(form.get(name));
  return { form, number, named: { game_id: number('game_id'), mod_id: number('mod_id') } };
}

export const actions = {
  ...commentActions('mods'),
  async subscribe(event: RequestEvent) {
    const { form, named } = await formOf(event);
    const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/subscribe', {
      ...named,
      include_dependencies: form.get('alone') === null,
    });
    return done.ok ? {} : refused(done.error);
  },
  async unsubscribe(event: RequestEvent) {
    const { named } = await formOf(event);
    const done = await apiOf(event).attempt('DELETE /games/{game_id}/mods/{mod_id}/subscribe', named);
    return done.ok ? {} : refused(done.error);
  },
  async rate(event: RequestEvent) {
    const { named, number } = await formOf(event);
    const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/ratings', {
      ...named,
      rating: number('rating'),
    });
    return done.ok ? {} : refused(done.error);
  },
  /** With the tokens of the wallet, or with money at the payment provider. */
  async buy(event: RequestEvent) {
    const { form, named, number } = await formOf(event);
    const withMoney = form.get('with') === 'money';
    const done = await apiOf(event).attempt('POST /games/{game_id}/mods/{mod_id}/checkout', {
      ...named,
      idempotent_key: String(form.get('key')),
      ...(withMoney
        ? { type: 3, terms_accepted: form.get('terms') !== null, refund_accepted: form.get('refund') !== null }
        : { display_amount: number('price') }),
    });
    if (!done.ok) return refused(done.error);
    return done.value.checkout_url ? { checkout: done.value.checkout_url } : { isBought: true };
  },
};
