// Runs on one database: texts do not come from it.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { operations } from '../src/composition/resources.ts';
import type { ErrorName } from '../src/platform/errors/catalogue.ts';
import { LANGUAGES, shownLanguage } from '../src/platform/localisation/languages.ts';
import { AREAS, textsOf } from '../tools/language-checks.ts';
import { type Answer, type ErrorAnswer, startApi } from './api.ts';

const api = await startApi();
const key = api.withKey(await api.aGame());
const [errors, validation] = ['errors', 'validation'].map((name) => AREAS.find((area) => area.name === name)!);
const refusals = new Set<ErrorName>(operations.flatMap(({ declaration }) => declaration.errors));

for (const language of LANGUAGES)
  test(`who asks in ${language} is refused in ${shownLanguage(language)}, and the response says so`, async () => {
    const shown = shownLanguage(language);
    const headers = { 'accept-language': language };
    const unknown = (await key.send('GET', '/games/999999/mods', { headers })) as Answer<ErrorAnswer>;
    assert.equal(unknown.headers['content-language'], shown);
    assert.equal(unknown.body.error.message, textsOf(errors!, shown)['GAME_NOT_FOUND']);
    const texts = textsOf(errors!, shown);
    assert.deepEqual(
      [...refusals].filter((name) => !texts[name]),
      [],
    );
    const missing = (await key.send('POST', '/oauth/emailrequest', { headers, body: 'a=b' })) as Answer<ErrorAnswer>;
    const expected = textsOf(validation!, shown)['required']!.replace('{field}', 'email');
    assert.equal(missing.body.error.errors?.['email'], expected);
  });
