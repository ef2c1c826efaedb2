import type { PageLoadEvent } from './$types';

/** What few pages have, only they load: the plots of teams, and what sells a mod. */
export async function load({ data }: PageLoadEvent) {
  const [plot, buy] = await Promise.all([
    data.days.length > 1 ? import('#components/Plot.svelte') : undefined,
    data.mod.price > 0 ? import('./Buy.svelte') : undefined,
  ]);
  return { ...data, Plot: plot?.default, Buy: buy?.default };
}
