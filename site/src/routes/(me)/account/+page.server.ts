import type { Input } from '@modstead/client';
import { type RequestEvent, redirect } from '@sveltejs/kit';
import { apiOf } from '#api';
import { calls, textOf } from '../actions.ts';
import type { PageServerLoadEvent } from './$types';
import { countriesIn, languageChoices, timezones } from './places.ts';

type Profile = Input<'PUT /me'>;
type Language = NonNullable<Profile['language']>;

const LANGUAGES: Readonly<Record<Language, true>> = {
  en: true,
  ar: true,
  bg: true,
  'zh-CN': true,
  'zh-TW': true,
  cs: true,
  fr: true,
  de: true,
  el: true,
  id: true,
  it: true,
  pl: true,
  pt: true,
  hu: true,
  ja: true,
  ko: true,
  ru: true,
  es: true,
  'es-419': true,
  th: true,
  tr: true,
  uk: true,
};
const HIDE_ONLINE = 1;
const HIDE_PROFILE = 2;

export async function load(event: PageServerLoadEvent) {
  // Addresses with a game, as games and docs have them, mean the accounts that are linked there.
  const game = event.url.searchParams.get('game');
  if (game !== null && event.platform!.isSignedIn) redirect(303, `/account/link?${new URLSearchParams({ game })}`);
  const { language } = await event.parent();
  const [me, account] = await Promise.all([apiOf(event).call('GET /me'), apiOf(event).call('GET /me/account')]);
  return {
    profile: me,
    isSaved: event.url.searchParams.has('saved'),
    account,
    isOnlineHidden: (me.privacy_options & HIDE_ONLINE) !== 0,
    isProfileHidden: (me.privacy_options & HIDE_PROFILE) !== 0,
    // A picture that nobody uploaded is the same for everyone.
    hasAvatar: !me.avatar.original.includes('/placeholder/'),
    languages: languageChoices(Object.keys(LANGUAGES)),
    countries: countriesIn(language),
    timezones: timezones(),
  };
}

/** A field that the form left out stays as it is. */
const given = (form: FormData, name: string) => (form.has(name) ? textOf(form, name) : undefined);

const profileOf = (form: FormData): Profile => ({
  username: given(form, 'username'),
  name_id: given(form, 'name_id'),
  language: given(form, 'language') as Language | undefined,
  timezone: given(form, 'timezone'),
  country: given(form, 'country'),
});

const preferencesOf = (form: FormData): Profile => ({
  privacy_options: (form.has('hide_online') ? HIDE_ONLINE : 0) | (form.has('hide_profile') ? HIDE_PROFILE : 0),
  mature_content: form.has('mature_content'),
  birth_date: textOf(form, 'birth_date') || undefined,
});

const avatarOf = (form: FormData): Input<'POST /me/avatar'> => {
  const file = form.get('avatar');
  return (file instanceof File && file.size > 0 ? { avatar: file } : {}) as Input<'POST /me/avatar'>;
};

const saveProfile = calls('PUT /me', 'saved', profileOf);

export const actions = {
  /** The next page is in the language that was chosen, so this one is loaded anew. */
  async profile(event: RequestEvent) {
    const before = (await apiOf(event).call('GET /me')).language;
    const saved = await saveProfile(event);
    if ('done' in saved && (await apiOf(event).call('GET /me')).language !== before) redirect(303, '/account?saved');
    return saved;
  },
  preferences: calls('PUT /me', 'saved', preferencesOf),
  avatar: calls('POST /me/avatar', 'avatar', avatarOf),
  removeAvatar: calls('DELETE /me/avatar', 'saved', () => ({})),
};
