import type { PageLoadEvent } from './$types';

/** Few games cook sources, so only their pages load what shows it. */
export async function load({ data }: PageLoadEvent) {
  const cooking = data.cooking ? await import('./Cooking.svelte') : undefined;
  return { ...data, Cooking: cooking?.default };
}
