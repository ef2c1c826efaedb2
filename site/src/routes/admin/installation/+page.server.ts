import { apiOf } from '#api';
import type { PageServerLoadEvent } from './$types';

export async function load(event: PageServerLoadEvent) {
  return { installation: await apiOf(event).call('GET /staff/installation') };
}
