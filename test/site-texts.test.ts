import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { parse } from 'svelte/compiler';
import { numbersIn } from '../site/src/numbers.ts';
import { exchanged, imported } from '../tools/language-exchange.ts';
import { assertNone } from './hand-tables.ts';

/** Names that no language translates. */
const NAMES = /\b(?:Modstead|YouTube|API|CSV|JSON|URL|MD5|OAuth|OpenID|C\+\+|Unity|Unreal|curl)\b/g;
/** Addresses and names of fields, as examples. */
const CODE = /https:\S+|\b\w+\.\w+\b/g;
const READ_ALOUD = new Set(['alt', 'title', 'placeholder', 'label', 'aria-label', 'aria-description']);
/** Elements whose text is for programs or is the same everywhere. */
const NOT_READ = new Set(['style', 'script', 'code', 'pre', 'kbd', 'samp']);

interface Node {
  readonly type: string;
  readonly name?: string;
  readonly data?: string;
  readonly [key: string]: unknown;
}

const isNode = (value: unknown): value is Node => typeof value === 'object' && value !== null && 'type' in value;
const hasWords = (text: string) => /\p{L}{2,}/u.test(text.replace(CODE, '').replace(NAMES, ''));

/** The texts of a page's markup that are written in the page itself. */
function* written(node: Node): Generator<string> {
  if (node.type === 'Text' && hasWords(node.data!)) yield node.data!.trim();
  if (node.type === 'Attribute' && !READ_ALOUD.has(node.name!)) return;
  if (NOT_READ.has(node.name ?? '')) return;
  // Expressions are code: their texts are keys, names of classes and the like.
  if (node.type === 'ExpressionTag' || node.type === 'Script' || node.type === 'StyleSheet') return;
  for (const [name, value] of Object.entries(node))
    if (name !== 'metadata' && name !== 'expression')
      for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) yield* written(child);
}

const pages = globSync('site/src/**/*.svelte').filter((file) => !file.includes('/styleguide/'));

test('pages take every text from the files of the languages', () => {
  const strings = pages.flatMap((file) => {
    const { fragment } = parse(readFileSync(file, 'utf8'), { modern: true });
    return [...written(fragment as unknown as Node)].map((text) => `${file}: ${text}`);
  });
  assertNone(strings, 'Move these to site/src/texts/AREA/en.json.');
  const [found] = written(parse('<p title="Hard coded">{t.ok}</p>', { modern: true }).fragment as unknown as Node);
  assert.equal(found, 'Hard coded');
});

test('the texts of a language leave for a translation platform and come back the same', () => {
  const { texts, problems } = imported('pl', exchanged('pl'));
  assert.deepEqual(problems, []);
  assert.equal(texts.get('mails')?.['signin_subject'] !== undefined || texts.size > 5, true);
});

test('a translation that lacks an argument or a plural form is refused', () => {
  const sent = { 'site browse/mods': { string: 'mody', developer_comment: '' } };
  assert.match(imported('pl', sent).problems.join(), /has the arguments/);
  const forms = {
    'site browse/mods': { string: '{count, plural, one {# mod} other {# modów}}', developer_comment: '' },
  };
  assert.match(imported('pl', forms).problems.join(), /lacks the plural form “few”/);
  assert.match(imported('pl', { 'site browse/none': 'x' }).problems.join(), /is no text/);
});

test('every language writes a small count as it comes, and groups larger ones', () => {
  for (const file of globSync('site/src/texts/browse/*.json').filter((each) => !each.endsWith('notes.json'))) {
    const language = path.basename(file, '.json');
    const [number, formatter] = [numbersIn(language), new Intl.NumberFormat(language)];
    for (const value of [0, 7, 12, 345, 999, 1_000, 1_234_567, 0.5, -12])
      assert.equal(number(value), formatter.format(value), `${value} in ${language}`);
  }
});
