import type { RequestEvent } from '@sveltejs/kit';
import { error } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import type { PageServerLoadEvent } from './$types';

const RESOURCES = ['games', 'mods', 'users', 'guides', 'collections', 'comments'] as const;

/** Visitors who are not signed in may report as well, so the form has a token of its own. */
export function load({ url, platform }: PageServerLoadEvent) {
  const resource = RESOURCES.find((name) => name === url.searchParams.get('resource'));
  const id = url.searchParams.get('id') ?? '';
  if (!resource || !/^\d{1,15}$/.test(id)) error(404, { message: '' });
  const back = url.searchParams.get('back') ?? '/';
  return { resource, id, back: /^\/(?![/\\])/.test(back) ? back : '/', formToken: platform!.formToken };
}

export const actions = {
  async default(event: RequestEvent) {
    const form = await event.request.formData();
    const text = (name: string) => String(form.get(name) ?? '');
    const resource = text('resource');
    const type = Number(text('type'));
    const done = await apiOf(event).attempt('POST /report', {
      resource,
      id: text('id'),
      type,
      summary: text('summary'),
      ...(text('name') && { name: text('name') }),
      ...(text('contact') && { contact: text('contact') }),
      ...(resource === 'mods' && type === 2 && text('reason') && { reason: Number(text('reason')) }),
    });
    return done.ok ? { isSent: true } : refused(done.error);
  },
};
