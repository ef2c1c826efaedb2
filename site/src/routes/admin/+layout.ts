import { withAreas } from '#texts';
import type { LayoutLoadEvent } from './$types';

export async function load({ data, parent, route }: LayoutLoadEvent) {
  const before = await parent();
  return { ...data, t: await withAreas(before.t, before.language, ['dashboard', 'moderation', 'staff'], route.id) };
}
