import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LANGUAGES } from '../localisation/languages.ts';
import { wordsByLevel } from './dictionary.ts';
import { createFilter, FILTER_LEVELS, type FilterLevel } from './filter.ts';

const NONE = { allowed: [], denied: [] };
const filters = Object.fromEntries(
  Object.values(FILTER_LEVELS).map((level) => [level, createFilter(level, NONE)]),
) as Record<FilterLevel, ReturnType<typeof createFilter>>;

const EVASIONS = [
  'FUCK',
  'f u c k',
  'f.u.c.k this',
  'f-u_c k',
  'fuuuuuck',
  'ffuucckk',
  'fück',
  'f​u​c​k',
  'fսck',
  'fuсk',
  'ｆｕｃｋ',
  '𝓯𝓾𝓬𝓴',
  'sh1t',
  '$hit',
  'sh!t happens',
  'b1tch',
  '@sshole',
  'f*ck',
  's**t',
  'd1ckhead',
  'fucking',
  'F​ùсk',
  's1ut',
];

const HARMLESS = [
  'Scunthorpe United',
  'A classic assassin mod with glass and brass',
  'Dr. Dickens drinks a cocktail in the cockpit',
  'Analysis of the Penistone grassland',
  'The parser parses 455 tokens, 1 x 1',
  'Peacock and shuttlecock',
  'Essex and Sussex',
  'Was passiert, wenn der Klassiker fehlt?',
  'Un article calculé et une dispute',
  'Мандарин и страхование',
  'これはペンです',
  '这是一个很好的模组',
  '안녕하세요 좋은 모드입니다',
  'Version 1.8.8 fixes 13 crashes!!!',
  'a b c d',
];

test('the usual ways around a filter do not work', () => {
  for (const text of EVASIONS) assert.ok(filters[2].refused(`This is ${text} indeed`), text);
});

test('harmless texts pass, even if a word contains a refused one', () => {
  for (const text of HARMLESS)
    for (const level of [1, 2, 3] as const) assert.equal(filters[level].refused(text), undefined, `${level}: ${text}`);
});

test('each level refuses what the level below refuses, and more', () => {
  for (const said of wordsByLevel[1])
    for (const level of [1, 2, 3] as const) assert.ok(filters[level].refused(said), said);
  for (const said of wordsByLevel[2])
    for (const level of [2, 3] as const) assert.ok(filters[level].refused(said), said);
  for (const said of wordsByLevel[3]) assert.ok(filters[3].refused(said), said);
  assert.equal(filters[1].refused('what a shit'), undefined);
  assert.equal(filters[2].refused('damn'), undefined);
  assert.equal(filters[2].refused('superfuckington'), undefined);
  assert.ok(filters[3].refused('superfuckington'));
  assert.equal(filters[0].refused('fuck'), undefined);
});

test('every language has words of its own', () => {
  assert.equal(LANGUAGES.length, 22);
  const samples = [
    'شرموطة',
    'педераст',
    '操你妈',
    '幹你娘',
    'kokot',
    'enculé',
    'hurensohn',
    'μαλάκας',
    'kontol',
    'stronzo',
  ];
  const more = [
    'kurwa',
    'caralho',
    'baszd meg',
    'ちんこ',
    '씨발',
    'пизда',
    'gilipollas',
    'pendejo',
    'เหี้ย',
    'orospu',
    'їбати',
  ];
  for (const said of [...samples, ...more]) assert.ok(filters[2].refused(`x ${said} y`), said);
});

test('a game denies words of its own, even if the level is off, and allows words that the lists refuse', () => {
  const off = createFilter(0, { allowed: [], denied: ['Pineapple', 'red herring'] });
  assert.equal(off.refused('p1neapple pizza'), 'Pineapple');
  assert.equal(off.refused('a Red  Herring!'), 'red herring');
  assert.equal(off.refused('pineapples'), undefined);
  const lenient = createFilter(3, { allowed: ['damn', 'Cock'], denied: ['cocktail'] });
  assert.equal(lenient.refused('damn the cock'), undefined);
  assert.equal(lenient.refused('a cocktail'), 'cocktail');
});

test('the time grows at most linearly with the text', () => {
  const words = ['a', 'fu', 'shi', 'fuc k', 'aaaaaaaaaaaaaaaaaaaaaaaaaa', 'f*', 'ni gge'];
  const text = (times: number) => `${words.join(' ')} `.repeat(times);
  const microseconds = (input: string) => {
    const runs = Array.from({ length: 5 }, () => {
      const before = process.cpuUsage();
      filters[3].refused(input);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    });
    return Math.min(...runs);
  };
  microseconds(text(250));
  const [short, long] = [microseconds(text(250)), microseconds(text(2_000))];
  assert.ok(long < short * 8 * 4 + 20_000, `${short} µs for one, ${long} µs for eight times as much`);
});

test('a denied word is found anywhere in a long text, and a word that contains it is not', async () => {
  const filter = createFilter(FILTER_LEVELS.off, { allowed: [], denied: ['gollum', 'dark lord'] });
  for (const word of ['gollum', 'g.o.l.l.u.m', 'dark lord'])
    for (let before = 0; before < 5_000; before += 61) {
      const text = `${'fair '.repeat(before / 5)}${word} ${'elf '.repeat(500)}`;
      assert.notEqual(filter.refused(text), undefined, `${word} after ${before} characters`);
      await filter.prepare(text);
      assert.notEqual(filter.refused(text), undefined, `${word} after ${before} characters, prepared`);
    }
  for (let before = 0; before < 5_000; before += 61) {
    const text = `${'x'.repeat(before % 7)} ${'gollumish '.repeat(before / 10)}${'elf '.repeat(500)}`;
    await filter.prepare(text);
    assert.equal(filter.refused(text), undefined, `after ${before} characters`);
  }
});
