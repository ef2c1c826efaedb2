import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { modOf } from '#making/finding.ts';
import { numbersOf, secondsOf, textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

const TEAM = '/games/{game_id}/mods/{mod_id}/monetization/team';
/** Bits of `monetization_options` of a mod: it is sold with the first two. */
const SOLD = 1 | 2;
const LIMITED_STOCK = 8;

export async function load(event: PageServerLoadEvent) {
  const { game, mod } = await event.parent();
  const api = apiOf(event);
  const named = { game_id: game.id, mod_id: mod.id };
  const [shares, history, team, terms, vault] = await Promise.all([
    api.attempt(`GET ${TEAM}`, named),
    api.attempt(`GET ${TEAM}/history`, { ...named, _limit: 20 }),
    api.call('GET /games/{game_id}/mods/{mod_id}/team', { ...named, _limit: 100 }),
    api.attempt('GET /games/{game_id}/monetization/terms', { game_id: game.id }),
    api.call('GET /games/{game_id}/mods/{mod_id}/vault', named),
  ]);
  return {
    shares: shares.ok ? shares.value.data : [],
    history: history.ok ? history.value.data : [],
    team: team.data.filter(({ invite_pending }) => invite_pending === 0),
    limits: terms.ok ? { least: terms.value.price_min, most: terms.value.price_max } : undefined,
    vault,
    isSold: (mod.monetization_options & SOLD) === SOLD,
    hasStock: (mod.monetization_options & LIMITED_STOCK) !== 0,
  };
}

export const actions = {
  async price(event: RequestEvent) {
    const { api, mod, named } = await modOf(event);
    const form = await event.request.formData();
    const isSold = form.has('sold');
    const hasStock = form.has('limited');
    const options =
      (mod.monetization_options & ~(SOLD | LIMITED_STOCK)) | (isSold ? SOLD : 0) | (hasStock ? LIMITED_STOCK : 0);
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}', {
      ...named,
      price: isSold ? Number(textOf(form, 'price')) : 0,
      monetization_options: options,
      ...(hasStock && { stock: Number(textOf(form, 'stock')) }),
    });
    return done.ok ? { saved: true } : refused(done.error, form);
  },
  async shares(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const splits = form.getAll('split').map(Number);
    const users = numbersOf(form, 'user')
      .map((id, index) => ({ id, split: splits[index] ?? 0 }))
      .filter(({ split }) => split > 0);
    const done = await api.attempt(`POST ${TEAM}`, { ...named, users });
    return done.ok ? { saved: true } : refused(done.error);
  },
  async unshare(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const done = await api.attempt(`DELETE ${TEAM}`, named);
    return done.ok ? { saved: true } : refused(done.error);
  },
  async vault(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const times = { date_opens: secondsOf(form, 'date_opens'), date_closes: secondsOf(form, 'date_closes') };
    const done =
      times.date_opens || times.date_closes
        ? await api.attempt('PUT /games/{game_id}/mods/{mod_id}/vault', { ...named, ...times })
        : await api.attempt('DELETE /games/{game_id}/mods/{mod_id}/vault', named);
    return done.ok ? { saved: true } : refused(done.error, form);
  },
};
