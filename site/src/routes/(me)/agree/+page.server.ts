import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { signInAddress } from '#components/addresses.ts';
import { openAgreements } from '../../agreements.ts';
import { textOf } from '../actions.ts';
import type { PageServerLoadEvent } from './$types';

/** Only paths of this site. */
const OWN_PATH = /^\/(?![/\\])/;

export async function load(event: PageServerLoadEvent) {
  const open = await openAgreements(event);
  return { open, back: event.url.searchParams.get('return') ?? '/' };
}

export const actions = {
  async default(event: RequestEvent) {
    if (!event.platform!.isSignedIn) redirect(303, signInAddress('/agree'));
    const form = await event.request.formData();
    const api = apiOf(event);
    for (const id of form.getAll('version')) {
      const accepted = await api.attempt('POST /me/agreements', { agreement_version_id: Number(id) });
      if (!accepted.ok) return refused(accepted.error, form);
    }
    const back = textOf(form, 'return');
    redirect(303, OWN_PATH.test(back) ? back : '/');
  },
};
