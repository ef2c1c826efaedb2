import { requireGameDocument } from '../catalogue/games/games.ts';
import { requireSingleMod } from '../catalogue/mods/access.ts';
import { singleModJson } from '../catalogue/mods/single.ts';
import { requireShownCollection } from '../community/collections/collections.ts';
import { toModCollection } from '../community/collections/object.ts';
import { showGuide } from '../community/guides/guides.ts';
import { toGuide } from '../community/guides/object.ts';
import {
  newestMods,
  type PublicLine,
  publicGames,
  requireGameNamed,
  requireNamedIn,
  requireUserNamed,
} from '../moderation/lookups/lookups.ts';
import { toUserObject } from '../people/users/object.ts';
import { requireVisibleUser } from '../people/users/profile.ts';
import { NOBODY } from '../platform/access/caller.ts';
import type { App } from '../platform/app.ts';
import { type Html, html } from '../platform/http/html.ts';
import type { Page, PageRequest } from '../platform/http/pages.ts';
import type { Language } from '../platform/localisation/languages.ts';
import { localise } from '../platform/localisation/texts.ts';
import { layout } from './layout.ts';
import { ACCOUNT_PATH } from './paths.ts';

// The pages behind `profile_url` and other addresses in answers. They show only what everyone may see.

/** What a page shows of a game, mod, guide, collection or user. */
interface Shown {
  readonly name: string;
  readonly summary: string;
  readonly logo?: { readonly thumb_320x180?: string | null } | null | undefined;
  readonly author?: { readonly username: string; readonly profile_url: string };
}

/** The part of a stored document that a page shows. */
interface ModDocument extends Shown {
  readonly submitted_by: NonNullable<Shown['author']>;
  readonly modfile: { readonly filename?: string; readonly download?: { readonly binary_url: string } };
}

function page(app: App, language: Language, title: string, body: Html) {
  return { status: 200, html: layout(app, language, { title, body }) };
}

const intro = ({ logo, summary, author }: Shown, language: Language): Html => html`${
  logo?.thumb_320x180 ? html`<img class="wide" src="${logo.thumb_320x180}" width="320" height="180" alt="">` : undefined
}
<p>${summary}</p>
${
  author &&
  html`<p class="faint"><a href="${author.profile_url}">${localise('page_public_by', language, { name: author.username })}</a></p>`
}`;

const lines = (found: readonly PublicLine[], addressOf: (nameId: string) => string): Html =>
  html`<ul>${found.map(
    ({ name, name_id, summary }) => html`<li><a href="${addressOf(name_id)}">${name}</a><br>${summary}</li>`,
  )}</ul>`;

async function home(app: App, { language }: PageRequest) {
  const games = await publicGames(app);
  const lead = localise(games.length === 0 ? 'page_home_empty' : 'page_home_lead', language);
  return page(
    app,
    language,
    localise('page_home_title', language),
    html`<p>${lead}</p>
${lines(games, app.addresses.game)}
<p><a href="${ACCOUNT_PATH}">${localise('page_account_title', language)}</a> · <a href="/v1/docs">${localise('page_public_api', language)}</a></p>`,
  );
}

async function game(app: App, { language, params }: PageRequest) {
  const id = await requireGameNamed(app, params['game']!);
  const { body } = await requireGameDocument(app.db, NOBODY, id, language, false);
  const shown = JSON.parse(`${body}}`) as Shown;
  const mods = await newestMods(app, id);
  return page(
    app,
    language,
    shown.name,
    html`${intro(shown, language)}
${mods.length > 0 ? html`<h2>${localise('page_public_newest', language)}</h2>` : undefined}
${lines(mods, (nameId) => app.addresses.mod(params['game']!, nameId))}`,
  );
}

async function mod(app: App, { language, params }: PageRequest) {
  const gameId = await requireGameNamed(app, params['game']!);
  const id = await requireNamedIn(app, 'mods', gameId, params['mod']!);
  const found = await requireSingleMod(app, NOBODY, gameId, id, language);
  const shown = JSON.parse(singleModJson(app, id, found).text) as ModDocument;
  const { filename, download } = shown.modfile;
  const file =
    filename && download
      ? html`<a class="button" href="${download.binary_url}">${localise('page_public_download', language, { filename })}</a>`
      : html`<p class="faint">${localise('page_public_no_file', language)}</p>`;
  return page(app, language, shown.name, html`${intro({ ...shown, author: shown.submitted_by }, language)}${file}`);
}

async function guide(app: App, { language, params }: PageRequest) {
  const gameId = await requireGameNamed(app, params['game']!);
  const id = await requireNamedIn(app, 'guides', gameId, params['guide']!);
  const { user: author, ...shown } = toGuide(app, await showGuide(app, NOBODY, gameId, id), undefined);
  return page(app, language, shown.name, intro({ ...shown, author }, language));
}

async function collection(app: App, { language, params }: PageRequest) {
  const gameId = await requireGameNamed(app, params['game']!);
  const id = await requireNamedIn(app, 'collections', gameId, params['collection']!);
  const found = await requireShownCollection(app, NOBODY, gameId, id);
  const { submitted_by: author, ...shown } = toModCollection(app, found, undefined);
  return page(app, language, shown.name, intro({ ...shown, author }, language));
}

async function person(app: App, { language, params }: PageRequest) {
  const found = await requireVisibleUser(app, NOBODY, await requireUserNamed(app, params['person']!));
  const { username, avatar } = toUserObject(app, found, undefined);
  const picture = 'thumb_100x100' in avatar ? avatar.thumb_100x100 : undefined;
  return page(
    app,
    language,
    username,
    html`${picture ? html`<img class="icon" src="${picture}" width="100" height="100" alt="">` : undefined}`,
  );
}

export const publicPages: readonly Page[] = [
  { id: 'page-home', path: '/', get: home },
  { id: 'page-game', path: '/g/{game}', get: game },
  { id: 'page-mod', path: '/g/{game}/m/{mod}', get: mod },
  { id: 'page-guide', path: '/g/{game}/r/{guide}', get: guide },
  { id: 'page-collection', path: '/g/{game}/c/{collection}', get: collection },
  { id: 'page-user', path: '/u/{person}', get: person },
];
