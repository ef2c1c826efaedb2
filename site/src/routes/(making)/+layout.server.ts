import { redirect } from '@sveltejs/kit';
import { signInAddress } from '#components/addresses.ts';
import type { LayoutServerLoadEvent } from './$types';

/** These pages are for people who have signed in. */
export function load({ platform, url }: LayoutServerLoadEvent) {
  if (!platform!.isSignedIn) redirect(303, signInAddress(url.pathname + url.search));
  return {};
}
