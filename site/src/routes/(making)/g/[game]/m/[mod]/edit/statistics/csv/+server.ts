import type { RequestEvent } from '@sveltejs/kit';
import { modOf } from '#making/finding.ts';
import { askedBy } from '../span.ts';

/** The same days as the page, as the API exports them. */
export async function GET(event: RequestEvent) {
  const { client, mod, named } = await modOf(event);
  const { platform, span } = askedBy(event.url);
  const path = 'GET /games/{game_id}/mods/{mod_id}/metrics/days/csv';
  const text = await client.with({ platform }).call(path, { ...named, ...span });
  const disposition = `attachment; filename="metrics-${mod.id}.csv"`;
  return new Response(text, {
    headers: { 'content-type': 'text/csv; charset=utf-8', 'content-disposition': disposition },
  });
}
