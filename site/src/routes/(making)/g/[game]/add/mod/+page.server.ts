import { type RequestEvent, redirect } from '@sveltejs/kit';
import { refused } from '#api';
import { modAddress } from '#components/addresses.ts';
import { MATURITY_BITS } from '#making/bits.ts';
import { gameOf } from '#making/finding.ts';
import { bitsOf, filesOf, textOf, textsOf } from '#making/forms.ts';

export const actions = {
  async default(event: RequestEvent) {
    const { api, named } = await gameOf(event);
    const form = await event.request.formData();
    const done = await api.attempt('POST /games/{game_id}/mods', {
      ...named,
      name: textOf(form, 'name') ?? '',
      summary: textOf(form, 'summary') ?? '',
      description: textOf(form, 'description') ?? '',
      maturity_option: bitsOf(form, 'maturity_option', MATURITY_BITS, 0),
      tags: textsOf(form, 'tags'),
      // The API names the field if it is empty.
      logo: filesOf(form, 'logo')[0] ?? new File([], ''),
    });
    if (!done.ok) return refused(done.error, form);
    redirect(303, `${modAddress(event.params['game']!, done.value.name_id)}/edit/files`);
  },
};
