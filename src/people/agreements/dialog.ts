import type { App } from '../../platform/app.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { PORTAL_NAMES } from '../../platform/vocabulary/game-platforms.ts';
import { DIALOG_TEXTS, type DialogTexts } from './dialog-texts.ts';

/** Browsers of consoles have no way back from a page, so the dialog contains no links there. */
const WITHOUT_LINKS: readonly string[] = ['nintendo', 'psn', 'xboxlive'];
const RIGHT_TO_LEFT: readonly Language[] = ['ar'];

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
  const texts = DIALOG_TEXTS[language];
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
  const linkOf = (name: LinkName) => ({ text: texts[name], url: urls[name], required: REQUIRED.includes(name) });
  const values = { site: new URL(addresses.site).hostname, portal: PORTAL_NAMES[portal ?? ''], agree: texts.agree };
  const anchor = (name: 'terms' | 'privacy') => `<a href="${urls[name]}">${texts[name]}</a>`;
  return {
    plaintext: sentences(texts, { ...values, terms: texts.terms, privacy: texts.privacy }).join('\n\n'),
    html: sentences(texts, { ...values, terms: anchor('terms'), privacy: anchor('privacy') })
      .map((sentence) => `<p${RIGHT_TO_LEFT.includes(language) ? ' dir="rtl"' : ''}>${sentence}</p>`)
      .join(''),
    buttons: { agree: { text: texts.agree }, disagree: { text: texts.disagree } },
    links: Object.fromEntries(LINKS.map((name) => [name, linkOf(name)])) as Record<LinkName, DialogLink>,
  };
}

function sentences(texts: DialogTexts, values: Readonly<Record<string, string | undefined>>): string[] {
  const consent = values['portal'] ? texts.consentWithPortal : texts.consent;
  return [texts.intro, consent, texts.data].map((text) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? ''));
}
