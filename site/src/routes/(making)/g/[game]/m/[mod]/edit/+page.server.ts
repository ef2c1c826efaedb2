import { type RequestEvent, redirect } from '@sveltejs/kit';
import { refused } from '#api';
import { modAddress } from '#components/addresses.ts';
import { COMMUNITY_BITS, MATURITY_BITS } from '#making/bits.ts';
import { modOf } from '#making/finding.ts';
import { bitsOf, filesOf, pairsOf, textOf, textsOf } from '#making/forms.ts';

export const actions = {
  async default(event: RequestEvent) {
    const { api, mod, named } = await modOf(event);
    const form = await event.request.formData();
    const [logo] = filesOf(form, 'logo');
    const changes = {
      name: textOf(form, 'name') ?? mod.name,
      name_id: textOf(form, 'name_id') ?? mod.name_id,
      summary: textOf(form, 'summary') ?? mod.summary,
      description: textOf(form, 'description') ?? mod.description,
      homepage_url: textOf(form, 'homepage_url') ?? '',
      visible: textOf(form, 'visible') === '0' ? (0 as const) : (1 as const),
      maturity_option: bitsOf(form, 'maturity_option', MATURITY_BITS, mod.maturity_option),
      community_options: bitsOf(form, 'community_options', COMMUNITY_BITS, mod.community_options),
      metadata_blob: textOf(form, 'metadata_blob') ?? '',
      metadata_kvp: pairsOf(form, 'metakey', 'metavalue'),
      tags: textsOf(form, 'tags'),
      ...(logo && { logo }),
    };
    const done = await api.attempt('POST /games/{game_id}/mods/{mod_id}', { ...named, ...changes });
    if (!done.ok) return refused(done.error, form);
    // The address has the name.
    if (done.value.name_id !== event.params['mod'])
      redirect(303, `${modAddress(event.params['game']!, done.value.name_id)}/edit?saved`);
    return { saved: true };
  },
};
