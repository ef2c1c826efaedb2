import { fail, type RequestEvent } from '@sveltejs/kit';
import { apiOf } from '#api';
import { calling, gameOf } from '#components/dashboard/actions.ts';
import type { Result } from '#components/dashboard/fields.ts';
import { COLOURS } from './colours.ts';

const PICTURES = ['logo', 'icon', 'header'] as const;

export const actions = {
  theme: calling(
    'PUT /games/{game_id}',
    COLOURS.map((name) => ({ name, kind: 'text' })),
    (theme) => ({ theme }),
  ),
  async pictures(event: RequestEvent) {
    const form = await event.request.formData();
    const sent = PICTURES.map((name) => [name, form.get(name)] as const).filter(
      (entry): entry is [(typeof PICTURES)[number], File] => entry[1] instanceof File && entry[1].size > 0,
    );
    const done = await apiOf(event).attempt('POST /games/{game_id}/media', {
      game_id: (await gameOf(event)).id,
      ...Object.fromEntries(sent),
    });
    const at = 'pictures';
    if (done.ok) return { at, done: true } satisfies Result;
    return fail(done.error.status, { at, message: done.error.message, fields: { ...done.error.fields } });
  },
  removePicture: calling('DELETE /games/{game_id}/media', [{ name: 'images', kind: 'many' }]),
};
