import { type RequestEvent, redirect } from '@sveltejs/kit';
import { signInAddress } from '#components/addresses.ts';
import { calling } from '#components/dashboard/actions.ts';
import type { PageServerLoadEvent } from './$types';
import { OWNER } from './fields.ts';

export function load(event: PageServerLoadEvent) {
  const platform = event.platform!;
  if (platform.isSignedIn) redirect(303, '/setup/site');
  return { formToken: platform.formToken, code: event.url.searchParams.get('code') ?? '' };
}

const adding = calling('POST /staff/first', OWNER);

export const actions = {
  /** The code that is mailed for the sign-in shows that mail works. */
  async owner(event: RequestEvent) {
    const result = await adding(event);
    if ('done' in result) redirect(303, signInAddress('/setup/site'));
    return result;
  },
};
