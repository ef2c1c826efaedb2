import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

const PROVIDERS = ['stripe', 'simulated'] as const;
const SHOWN = 100;

/** Asks the provider only when the form was sent: each comparison reads everything in the month. */
export async function load(event: PageServerLoadEvent) {
  const { game } = await event.parent();
  const query = event.url.searchParams;
  const provider = PROVIDERS.find((each) => each === query.get('provider'));
  const month = query.get('month') || new Date().toISOString().slice(0, 7);
  const asked = provider
    ? await apiOf(event).attempt('GET /games/{game_id}/monetization/reconciliation', {
        game_id: game.id,
        provider,
        month,
      })
    : undefined;
  return {
    providers: PROVIDERS,
    provider,
    month,
    refusal: asked && !asked.ok ? asked.error.message : undefined,
    comparison: asked?.ok ? { ...asked.value, differences: asked.value.differences.slice(0, SHOWN) } : undefined,
  };
}
