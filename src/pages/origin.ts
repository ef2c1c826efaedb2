import { type Html, html } from '../platform/http/html.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { localise } from '../platform/localisation/texts.ts';

/** The application that requests access, and its game. */
export interface Origin {
  readonly game: string;
  readonly icon: string | null;
  readonly owner: string | null;
  /** Whether the site’s staff have accepted the game. */
  readonly isAccepted: boolean;
  /** When the application was registered; null for the game itself. */
  readonly since: number | null;
}

/** Shows the owner and the age of an application, and a warning if its game is not accepted. */
export const originOf = ({ game, icon, owner, isAccepted, since }: Origin, language: Language): Html =>
  html`<div class="origin">
<img class="icon" src="/files/${icon ?? 'placeholder/icon'}/thumb_64x64.png" alt="" width="64" height="64">
${since === null ? undefined : html`<p class="faint">${localise('page_consent_owner', language, { game, owner: owner ?? '–' })}<br>${localise('page_consent_since', language, { date: dayOf(since, language) })}</p>`}
</div>
${isAccepted ? undefined : html`<p class="problem" role="note">${localise('page_consent_unverified', language)}</p>`}`;

const dayOf = (seconds: number, language: Language): string =>
  new Intl.DateTimeFormat(language, { dateStyle: 'long', timeZone: 'UTC' }).format(seconds * 1000);
