import type { App } from '../../platform/app.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { formatMessage, type MessageValues } from '../../platform/localisation/message-format.ts';
import { TextFolder } from '../../platform/localisation/translations.ts';
import { PORTAL_NAMES } from '../../platform/vocabulary/game-platforms.ts';
import english from './dialog/en.json' with { type: 'json' };

/** Browsers of consoles have no way back from a page, so the dialog contains no links there. */
const WITHOUT_LINKS: readonly string[] = ['nintendo', 'psn', 'xboxlive'];
const RIGHT_TO_LEFT: readonly Language[] = ['ar'];

type TextKey = keyof typeof english;
const texts = new TextFolder<TextKey>(new URL('dialog/', import.meta.url), english);

const LINKS = ['website', 'terms', 'privacy', 'refund', 'monetization', 'manage'] as const;
type LinkName = (typeof LINKS)[number];
const REQUIRED: readonly LinkName[] = ['terms', 'privacy'];

interface DialogLink {
  readonly text: string;
  readonly url: string;
  readonly required: boolean;
}

export interface Dialog {
  readonly plaintext: string;
  readonly html: string;
  readonly buttons: { readonly agree: { readonly text: string }; readonly disagree: { readonly text: string } };
  readonly links: Readonly<Record<LinkName, DialogLink>>;
}

/** The dialog that a game shows before a user's first sign-in. */
export function consentDialog({ addresses }: Pick<App, 'addresses'>, language: Language, portal?: string): Dialog {
  const textOf = (key: TextKey) => texts.text(key, language);
  const query = portal && WITHOUT_LINKS.includes(portal) ? '?no_links=true' : '';
  const legal = (page: string) => `${addresses.site}/legal/${page}${query}`;
  const urls: Readonly<Record<LinkName, string>> = {
    website: addresses.site,
    terms: legal('terms'),
    privacy: legal('privacy'),
    refund: legal('refund'),
    monetization: legal('monetization'),
    manage: `${addresses.site}/account`,
  };
  const linkOf = (name: LinkName) => ({ text: textOf(name), url: urls[name], required: REQUIRED.includes(name) });
  const values = {
    site: new URL(addresses.site).hostname,
    portal: PORTAL_NAMES[portal ?? ''] ?? '',
    agree: textOf('agree'),
  };
  const anchor = (name: 'terms' | 'privacy') => `<a href="${urls[name]}">${textOf(name)}</a>`;
  return {
    plaintext: sentences(language, { ...values, terms: textOf('terms'), privacy: textOf('privacy') }).join('\n\n'),
    html: sentences(language, { ...values, terms: anchor('terms'), privacy: anchor('privacy') })
      .map((sentence) => `<p${RIGHT_TO_LEFT.includes(language) ? ' dir="rtl"' : ''}>${sentence}</p>`)
      .join(''),
    buttons: { agree: { text: textOf('agree') }, disagree: { text: textOf('disagree') } },
    links: Object.fromEntries(LINKS.map((name) => [name, linkOf(name)])) as Record<LinkName, DialogLink>,
  };
}

/** `{terms}` and `{privacy}` become links, so each language puts them where they need not be inflected. */
function sentences(language: Language, values: MessageValues): string[] {
  const consent = values['portal'] ? 'consentWithPortal' : 'consent';
  return (['intro', consent, 'data'] as const).map((key) => formatMessage(texts.text(key, language), language, values));
}
