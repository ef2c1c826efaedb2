import { error } from '@sveltejs/kit';
import type { PageServerLoadEvent } from './$types';

/** For developers alone: `npm run dev` shows it. */
export function load({ platform }: PageServerLoadEvent): void {
  if (!platform!.isDevelopment) error(404, { message: '' });
}
