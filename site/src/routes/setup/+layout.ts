import { withAreas } from '#texts';
import type { LayoutLoadEvent } from './$types';

export async function load({ parent, route }: LayoutLoadEvent) {
  const before = await parent();
  return { t: await withAreas(before.t, before.language, ['dashboard', 'staff'], route.id) };
}
