import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { LANGUAGES, type Language, languageOf, negotiate, pick, TERMS_ONLY } from './languages.ts';

type Cases = readonly (readonly [header: string | undefined, language: Language | undefined])[];

function negotiates(name: string, cases: Cases): void {
  test(name, () => {
    for (const [header, language] of cases) {
      assert.equal(negotiate(header), language, `first time: ${header}`);
      assert.equal(negotiate(header), language, `remembered: ${header}`);
    }
  });
}

test('there are 22 languages, two of them for the terms dialog only', () => {
  assert.equal(new Set(LANGUAGES).size, 22);
  assert.deepEqual(TERMS_ONLY, ['ar', 'id']);
});

test('every supported code negotiates as itself, in any case and with either separator', () => {
  for (const code of LANGUAGES)
    for (const spelling of [code, code.toUpperCase(), code.toLowerCase(), code.replace('-', '_')]) {
      assert.equal(negotiate(spelling), code);
      assert.equal(languageOf(` ${spelling} `), code);
    }
});

negotiates('a missing, empty or unreadable header leaves the choice to the caller', [
  [undefined, undefined],
  ['', undefined],
  [' ', undefined],
  [',;,', undefined],
  [';q=1', undefined],
  ['deutsch', undefined],
  ['tlh', undefined],
  ['x-de', undefined],
  ['__proto__', undefined],
  ['constructor', undefined],
]);

negotiates('the highest weight wins, and of equal weights the first', [
  ['de, fr', 'de'],
  ['de;q=0.5, fr', 'fr'],
  ['de;q=0.8,fr;q=0.9,ja;q=0.7', 'fr'],
  ['de;q=0.5, fr;q=0.5', 'de'],
  ['en-US,en;q=0.9,de;q=0.8', 'en'],
  ['tlh, ja;q=0.1', 'ja'],
  ['de ; q=0.2 , fr ; Q=0.3', 'fr'],
  ['de;q=0.001, fr;q=0.002', 'fr'],
  ['de;level=1;q=0.1, fr;q=0.2', 'fr'],
]);

negotiates('a weight of 0 refuses the language, also for its regions', [
  ['de;q=0', undefined],
  ['de;q=0.000, fr;q=0.1', 'fr'],
  ['de-AT, de;q=0', undefined],
  ['de-AT, de;q=0, fr;q=0.1', 'fr'],
  ['de-AT;q=0, de', 'de'],
  ['es;q=0, es-MX', 'es-419'],
]);

negotiates('a range with an invalid weight is ignored', [
  ['de;q=2, fr;q=0.1', 'fr'],
  ['de;q=1.5, fr;q=0.1', 'fr'],
  ['de;q=-1, fr;q=0.1', 'fr'],
  ['de;q=, fr;q=0.1', 'fr'],
  ['de;q=high', undefined],
  ['de;q=Infinity', undefined],
]);

negotiates('the wildcard chooses nothing by itself and is passed over for a named language', [
  ['*', undefined],
  ['tlh, *;q=0.5', undefined],
  ['*, de;q=0.5', 'de'],
  ['*;q=0, de', 'de'],
]);

negotiates('a region or script falls back to its language', [
  ['de-AT', 'de'],
  ['de-Latn-CH-1996', 'de'],
  ['fr-CA', 'fr'],
  ['pt-BR', 'pt'],
  ['en-GB-oxendict', 'en'],
  ['uk-UA-x-private', 'uk'],
]);

negotiates('Spanish of Spain is es and Spanish of Latin America is es-419', [
  ['es-ES', 'es'],
  ['es-GQ', 'es'],
  ['es-MX', 'es-419'],
  ['es-AR', 'es-419'],
  ['es_cl', 'es-419'],
  ['es-US', 'es-419'],
  ['es-419', 'es-419'],
  ['es-MX-x-private', 'es-419'],
]);

negotiates('Chinese follows the script, or the region that implies it', [
  ['zh', 'zh-CN'],
  ['zh-Hans', 'zh-CN'],
  ['zh-Hans-HK', 'zh-CN'],
  ['zh-SG', 'zh-CN'],
  ['zh-Hant', 'zh-TW'],
  ['zh-Hant-CN', 'zh-TW'],
  ['zh-HK', 'zh-TW'],
  ['zh-MO', 'zh-TW'],
]);

negotiates('the former code of Indonesian still works', [
  ['in', 'id'],
  ['in-ID', 'id'],
]);

test('a Content-Language that lists several languages is not one language', () => {
  assert.equal(languageOf('de, fr'), undefined);
  assert.equal(languageOf(''), undefined);
  assert.equal(languageOf(undefined), undefined);
  assert.equal(languageOf('*'), undefined);
});

const header = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({
    unit: fc.constantFrom('d', 'e', 's', 'z', 'h', '-', '_', '4', '1', '9', '*', ',', ';', 'q', '=', '0', '.', ' '),
  }),
  fc
    .array(
      fc.tuple(fc.constantFrom(...LANGUAGES, '*', 'tlh', 'es-MX', 'zh-HK'), fc.float({ min: 0, max: 1, noNaN: true })),
    )
    .map((ranges) => ranges.map(([tag, weight]) => `${tag};q=${weight.toFixed(3)}`).join(',')),
);

test('any header yields a supported language or none, and always the same', () => {
  fc.assert(
    fc.property(header, (text) => {
      const language = negotiate(text);
      assert.ok(language === undefined || LANGUAGES.includes(language));
      assert.equal(negotiate(text), language);
    }),
    { numRuns: 2000 },
  );
});

test('the weights decide, whatever the order of the ranges', () => {
  const weights = fc.uniqueArray(fc.integer({ min: 1, max: 1000 }), { minLength: 22, maxLength: 22 });
  fc.assert(
    fc.property(weights, fc.shuffledSubarray([...LANGUAGES], { minLength: 1 }), (thousandths, languages) => {
      const ranges = languages.map((language, at) => ({ language, weight: thousandths[at]! / 1000 }));
      const most = ranges.reduce((best, range) => (range.weight > best.weight ? range : best));
      const text = ranges.map(({ language, weight }) => `${language};q=${weight.toFixed(3)}`).join(', ');
      assert.equal(negotiate(text), most.language);
    }),
  );
});

test('a malicious header of a megabyte is parsed in linear time', () => {
  for (const part of ['a-', ',', ';', '-', '_', ' ', 'q=0', ';q=', 'de;q=0.1,']) {
    const { shorter, longer } = leastFor(part, 1e6 / TIMES, 1e6);
    // The times are equal if the parser is linear, and differ by a factor of about 64 if it is quadratic.
    assert.ok(longer < shorter * 16 + 50_000, `"${part}": ${shorter} µs in ${TIMES} headers, ${longer} µs in one`);
  }
});

const TIMES = 64;

/**
 * The times for many short headers and a long one. The minimum of several runs counts, because it has the least noise.
 */
function leastFor(part: string, shorter: number, longer: number): { shorter: number; longer: number } {
  const [short, long] = [part.repeat(shorter / part.length), part.repeat(longer / part.length)];
  const least = { shorter: Number.POSITIVE_INFINITY, longer: Number.POSITIVE_INFINITY };
  for (let turn = 0; turn < 3; turn += 1) {
    least.shorter = Math.min(least.shorter, usedFor(short, TIMES));
    least.longer = Math.min(least.longer, usedFor(long, 1));
  }
  return least;
}

function usedFor(header: string, times: number): number {
  const before = process.threadCpuUsage();
  for (let turn = 0; turn < times; turn += 1) negotiate(header);
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

test('a text is shown in the language if it is translated, otherwise in English', () => {
  const translations = { de: 'Burg', 'zh-CN': '城堡', es: '' };
  assert.equal(pick(translations, 'Castle', 'de'), 'Burg');
  assert.equal(pick(translations, 'Castle', 'en'), 'Castle');
  assert.equal(pick(translations, 'Castle', 'zh-TW'), 'Castle');
  assert.equal(pick(translations, 'Castle', 'es'), 'Castle');
  assert.equal(pick(undefined, 'Castle', 'de'), 'Castle');
});
