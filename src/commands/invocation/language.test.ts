import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IntlMessageFormat } from 'intl-messageformat';
import { runHere } from '../../../test/commands.ts';
import { AREAS, languagesOf, textsOf } from '../../../tools/language-checks.ts';
import { languageOfArguments, languageOfTerminal } from './language.ts';
import { formatPlain } from './plain-messages.ts';

test('the language is that of the environment, as other programs choose it, and English otherwise', () => {
  for (const [env, language] of [
    [{}, 'en'],
    [{ LANG: 'de_AT.UTF-8' }, 'de'],
    [{ LANG: 'sv_SE.UTF-8' }, 'en'],
    [{ LANG: 'ar_EG.UTF-8' }, 'en'],
    [{ LANG: 'es_MX.UTF-8' }, 'es-419'],
    [{ LANG: 'zh_HK.UTF-8' }, 'zh-TW'],
    [{ LANG: 'de_DE', LC_MESSAGES: 'fr_FR.UTF-8@euro' }, 'fr'],
    [{ LANG: 'de_DE', LC_MESSAGES: 'fr_FR', LC_ALL: 'it_IT' }, 'it'],
    [{ LANG: 'de_DE', LC_ALL: '', LANGUAGE: 'sv:id:ja:de' }, 'ja'],
    [{ LANG: 'de_DE', LANGUAGE: 'sv' }, 'de'],
    [{ LC_ALL: 'C.UTF-8', LANG: 'de_DE', LANGUAGE: 'de' }, 'en'],
    [{ LANG: 'POSIX' }, 'en'],
  ] as const)
    assert.equal(languageOfTerminal(env), language, JSON.stringify(env));
});

test('an option is stronger than the environment, also for what is wrong with other options', async () => {
  const env = { LANG: 'de_DE.UTF-8' };
  const unknown = await runHere(['publish', '--language', 'sv'], env);
  assert.deepEqual([unknown.code, unknown.err.slice(0, 40)], [2, '--language muss en, bg, zh-CN, zh-TW, cs']);
  assert.equal(languageOfArguments(['--language', 'fr', '--nonsense'], env), 'fr');
  assert.equal(languageOfArguments(['--language=ja'], env), 'ja');
  assert.equal(languageOfArguments(['--nonsense', '--language'], env), 'de');
  assert.equal(languageOfArguments(['--language', 'sv'], env), 'de');
});

test('messages are formatted as the library formats them', () => {
  const area = AREAS.find(({ name }) => name === 'commands')!;
  for (const language of languagesOf(area))
    for (const [name, text] of Object.entries(textsOf(area, language)))
      for (const count of [0, 1, 2, 5, 21, 1_000_000]) {
        const names = [...text.matchAll(/\{(\w+)(,)?/g)].map(
          ([, key, isNumber]) => [key!, isNumber ? count : `<${key}>`] as const,
        );
        const given = Object.fromEntries(names);
        const library = new IntlMessageFormat(text, language, undefined, { ignoreTag: true }).format(given);
        assert.equal(formatPlain(text, language, given), library, `${language} ${name}`);
      }
});
