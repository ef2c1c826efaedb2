import type { RequestEvent } from '@sveltejs/kit';
import { apiOf, refused } from '#api';
import { contentLanguageNamed, TRANSLATIONS } from '#components/languages.ts';
import { modOf } from '#making/finding.ts';
import { textOf } from '#making/forms.ts';
import type { PageServerLoadEvent } from './$types';

const FIELDS = ['name', 'summary', 'description'] as const;

const translationNamed = (name: string | null | undefined) => {
  const language = contentLanguageNamed(name);
  return language === 'en' ? undefined : language;
};

export async function load(event: PageServerLoadEvent) {
  const { game, mod, me } = await event.parent();
  const own = translationNamed(me?.language);
  const language = translationNamed(event.url.searchParams.get('language')) ?? own ?? TRANSLATIONS[0]!;
  const named = { game_id: game.id, mod_id: mod.id };
  const shown = await apiOf(event).call('GET /games/{game_id}/mods/{mod_id}', named, { language });
  // The API returns the original where there is no translation.
  const translated = FIELDS.map((field) => [field, shown[field] === mod[field] ? '' : shown[field]] as const);
  return {
    written: language,
    languages: TRANSLATIONS,
    translation: Object.fromEntries(translated) as Record<(typeof FIELDS)[number], string>,
  };
}

export const actions = {
  async default(event: RequestEvent) {
    const { api, named } = await modOf(event);
    const form = await event.request.formData();
    const language = translationNamed(textOf(form, 'language'));
    const sent = FIELDS.map((field) => [field, textOf(form, field)?.trim() ?? ''] as const);
    // A name and a summary cannot be empty; an empty description removes its translation.
    const texts = Object.fromEntries(sent.filter(([field, text]) => text !== '' || field === 'description'));
    const done = await api.attempt(
      'POST /games/{game_id}/mods/{mod_id}',
      { ...named, ...texts },
      { contentLanguage: language },
    );
    return done.ok ? { saved: true } : refused(done.error, form);
  },
};
