// Runs on one database: languages are a matter of pages.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { builtSite } from '../src/commands/site-build.ts';
import { joinStaff } from '../src/people/staff/staff.ts';
import { STAFF_LEVELS } from '../src/platform/access/staff.ts';
import { startApi } from './api.ts';
import { Browser } from './browser.ts';
import { assertNone } from './hand-tables.ts';

const api = await startApi({ site: builtSite(), settings: { MODSTEAD_LOG: 'debug' } });
const email = 'wxqz@example.org';
const owner = await api.aUser({ email });
const game = await api.aGame({ owner });
await api.aMod({ game, owner });
await api.aGuide({ game, owner });
await api
  .app()
  .db.write((transaction) =>
    joinStaff(transaction, { userId: owner.id, level: STAFF_LEVELS.owner, addedBy: 0, now: 0 }),
  );

/** Addresses that differ only in names and ids lead to one page. */
const shapeOf = (path: string): string => path.replace(/\/(g|m|c|r|u|users)\/[^/]+/g, '/$1/*').replace(/\d+/g, '*');

const linksOf = (html: string): string[] =>
  [...html.matchAll(/<a\b[^>]* href="(\/[^"#?]*)/g)].map(([, path]) => path!.replaceAll('&amp;', '&'));

/** Every page that the signed-in owner can reach by links, in a pseudo-language. */
async function* pagesIn(language: string): AsyncGenerator<{ path: string; html: string }> {
  const browser = new Browser(api, 'production', { 'accept-language': language });
  await browser.signIn('/account', email);
  const waiting = ['/', `/g/${game.name_id}/admin`, '/admin', '/account', '/mods'];
  const seen = new Set<string>(waiting.map(shapeOf));
  for (const path of waiting) {
    const { status, text, headers } = await browser.get(path);
    if (status !== 200 || !headers['content-type']?.startsWith('text/html')) continue;
    if (!text.includes('data-sveltekit')) continue;
    yield { path, html: text };
    for (const link of linksOf(text).filter((each) => !seen.has(shapeOf(each)))) {
      seen.add(shapeOf(link));
      waiting.push(link);
    }
  }
}

for (const [language, direction] of [
  ['en-XA', 'ltr'],
  ['ar-XB', 'rtl'],
] as const)
  test(`every page has all of its texts in ${language}`, async () => {
    const left: string[] = [];
    let pages = 0;
    for await (const { path, html } of pagesIn(language)) {
      pages++;
      assert.match(html, new RegExp(`<html lang="${language}" dir="${direction}"`), path);
      if (!AGREEMENTS.test(path)) left.push(...untranslated(html).map((text) => `${path}: ${text}`));
    }
    console.log(pages);
    assert.ok(pages > 60, `${pages} pages`);
    assertNone(left, 'These are not from the files of the languages.');
  });

/** Pages that show the documents of the operator, in their own language. */
const AGREEMENTS = /^\/(?:agree|legal|admin\/agreements\/)/;
/** Names of languages, countries and time zones, which come with the runtime. */
const NAMED_BY_RUNTIME = /<select[^>]* name="(?:country|language|timezone)".*?<\/select>/gs;
/** Of settings and of the system, which say that they are English. */
const ENGLISH = /<span[^>]* lang="en".*?<\/span>/gs;
/** Languages in their own words, which no language translates. */
const LANGUAGES = /<a[^>]* lang="[\w-]+".*?<\/a>/gs;
const WITHOUT_WORDS = /<(script|style|code|pre|kbd|samp|textarea|svg)\b.*?<\/\1>/gs;
/** Content of people, and names of gateways, of the first language in a list, and others that no page translates. */
const NAMES =
  /Ada 1|Example (?:Game|Mod|Guide) \d+|An example|How it is done, in short|Like this\.|Bulgarian|stripe|simulated|Owner|@ada-1|Modstead|CSV|wxqz@example.org/g;
/** What the API says about the installation, in its own languages. */
const SAID_BY_API =
  /^(?:(?:SQLite|PostgreSQL), \d+ migrations|In (?:a local folder|an S3 bucket)|Off|The service renews it by itself\.|[\d.,]+ of [\d.,]+ GB free)$/;
/** Dates and times, which the runtime writes. */
const TIMES = /\b[A-Z][a-z]{2} \d+, \d{4}(?:, [\d:]+.[AP]M)?|this minute|\bnow\b|\d+ (?:second|minute)s? ago/g;

function untranslated(html: string): string[] {
  const texts = html
    .replace(NAMED_BY_RUNTIME, '')
    .replace(ENGLISH, '')
    .replace(LANGUAGES, '')
    .replace(WITHOUT_WORDS, '')
    .split(/<[^>]*>/);
  return [...new Set(texts)]
    .map((text) => withoutTranslated(text.trim()))
    .filter((text) => /\p{Script=Latin}{2,}/u.test(text));
}

/** Without the texts of the pseudo-language, which are in brackets and may contain one another. */
function withoutTranslated(text: string): string {
  const rest = text
    .replace(NAMES, '')
    .replace(TIMES, '')
    .replace(SAID_BY_API, '')
    .replace(/\[[^[\]]*\]/g, '');
  return rest === text ? text : withoutTranslated(rest);
}
