import { lookOf } from '../people/site/site.ts';
import type { App } from '../platform/app.ts';
import { ApiError } from '../platform/errors/catalogue.ts';
import { Html, html } from '../platform/http/html.ts';
import type { Page } from '../platform/http/pages.ts';
import { LANGUAGES, languageOf } from '../platform/localisation/languages.ts';
import mails from '../platform/localisation/texts/mails/en.json' with { type: 'json' };
import { localise, type TextName } from '../platform/localisation/texts.ts';
import { letterOf } from '../platform/mail/letter.ts';
import { layout } from './layout.ts';

const PATH = '/styleguide/mails';

/** Any text may have any of these. */
const SAMPLES = {
  access: 'session',
  actor: 'Ada',
  address: '203.0.113.7',
  code: 'AB2CD',
  count: 3,
  date: '2026-11-17 12:00 UTC',
  days: 7,
  file: 'rivers-1.2.zip',
  from: 'Old Ada',
  game: 'Skyfarers',
  hours: 24,
  link: 'https://mods.example.org/release?hash=AbCdEfGh',
  minutes: 15,
  mod: 'Better Rivers',
  requester: 'Grace',
  site: 'https://mods.example.org',
  threat: 'Win.Test.EICAR_HDB-1',
  thing: 'Better Rivers',
  to: 'Ada',
  user: 'Grace',
} as const;

/** The subject of each mail by the name of its text. */
const SUBJECTS: ReadonlyMap<string, TextName> = new Map(
  Object.keys(mails).flatMap((name) => {
    const [, mail] = /^(.+_mail)_text$/.exec(name) ?? [];
    const subject = mail && `${mail.replace(/^(email_change)_(?:new|old)_mail$/, '$1_mail')}_subject`;
    return subject && subject in mails ? [[name, subject as TextName] as const] : [];
  }),
);

/** For developers alone, like the style guide that leads here. */
function requireDevelopment({ settings }: App): void {
  if (settings.log !== 'debug') throw new ApiError('RESOURCE_NOT_FOUND');
}

export const mailPreviewPages: readonly Page[] = [
  {
    id: 'page-mail-previews',
    path: PATH,
    get: (app, { language }) => {
      requireDevelopment(app);
      const rows = [...SUBJECTS].map(
        ([name]) =>
          html`<p>${name}: ${LANGUAGES.map((each) => html`<a href="${PATH}/${name}?language=${each}">${each}</a> `)}</p>`,
      );
      return { status: 200, html: layout(app, language, { title: 'Mails', body: html`${rows}` }) };
    },
  },
  {
    id: 'page-mail-preview',
    path: `${PATH}/{name}`,
    get: async (app, { params, query, language }) => {
      requireDevelopment(app);
      const subject = SUBJECTS.get(params['name'] ?? '');
      if (!subject) throw new ApiError('RESOURCE_NOT_FOUND');
      const shown = languageOf(query['language']) ?? language;
      const letter = {
        subject: localise(subject, shown, SAMPLES),
        text: localise(params['name'] as TextName, shown, SAMPLES),
      };
      const { name, palette } = await lookOf(app.db);
      const sender = { accents: { light: palette.light.accent, dark: palette.dark.accent } };
      return { status: 200, isMail: true, html: new Html(letterOf({ ...letter, sender }, name)) };
    },
  },
];
