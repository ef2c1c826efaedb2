import { withAreas } from '#texts';
import type { LayoutLoadEvent } from './$types';

export async function load({ parent }: LayoutLoadEvent) {
  const before = await parent();
  return { t: await withAreas(before.t, before.language, ['guides']) };
}
