import { test } from 'node:test';
import { AREAS, languagesOf, problemsOf, problemsOfNotes, strayFiles } from '../tools/language-checks.ts';
import { assertNone } from './hand-tables.ts';

for (const area of AREAS) {
  test(`the ${area.name} have files for languages of the API only`, () => {
    assertNone(
      strayFiles(area),
      'Add the language to LANGUAGES in src/platform/localisation/languages.ts, or remove the file.',
    );
  });

  test(`each of the ${area.name} has a note for translators`, () => {
    assertNone(problemsOfNotes(area), `Add these to notes.json beside en.json.`);
  });

  for (const language of languagesOf(area))
    test(`the ${area.name} are complete and correct in ${language}`, () => {
      assertNone(problemsOf(area, language), `Mend these in ${area.folder.pathname.split('/').slice(-4).join('/')}.`);
    });
}
