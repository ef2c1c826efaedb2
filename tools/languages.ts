import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { LANGUAGES, type Language } from '../src/platform/localisation/languages.ts';
import { AREAS, countsOf, languagesOf, problemsOf, problemsOfNotes, strayFiles } from './language-checks.ts';
import { exchanged, imported, writeTexts } from './language-exchange.ts';

const help = `npm run languages
npm run languages -- --export it > it.json
npm run languages -- --import it it.json

Prints how much of each area exists in each language, and what is wrong with the texts.

--export writes the texts of a language as structured JSON, which translation platforms read: per text the translation
(or English, if there is none), a comment for translators, and the longest allowed length. --missing leaves out what is
translated. --import reads such a file back, and writes nothing if a text is wrong.`;

const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;

function printTable(): void {
  console.log(row(['language', ...AREAS.map(({ name }) => name)]));
  console.log(row(['---', ...AREAS.map(() => '---:')]));
  for (const language of LANGUAGES) {
    const cells = AREAS.map((area) => {
      if (!languagesOf(area).includes(language)) return '—';
      const { done, all } = countsOf(area, language);
      return done === all ? `${all}` : `${done} of ${all}`;
    });
    console.log(row([language, ...cells]));
  }
}

const PRINTED_MAX = 500;

function printProblems(problems: readonly string[]): void {
  for (const problem of problems.slice(0, PRINTED_MAX)) console.log(problem);
  console.log(problems.length === 0 ? 'All texts are complete and correct.' : `${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}

function languageNamed(name: string): Language {
  const language = LANGUAGES.find((each) => each === name);
  if (!language) throw new Error(`“${name}” is no language of the API: ${LANGUAGES.join(', ')}.`);
  return language;
}

function importFile(language: Language, file: string): void {
  const { texts, problems } = imported(language, JSON.parse(readFileSync(file, 'utf8')));
  if (problems.length === 0) writeTexts(language, texts);
  printProblems(problems);
}

const { values, positionals } = parseArgs({
  options: {
    help: { type: 'boolean' },
    export: { type: 'string' },
    import: { type: 'string' },
    missing: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
if (values.help) console.log(help);
else if (values.export) console.log(JSON.stringify(exchanged(languageNamed(values.export), values.missing), null, 2));
else if (values.import) importFile(languageNamed(values.import), positionals[0] ?? '/dev/stdin');
else {
  printTable();
  printProblems(
    AREAS.flatMap((area) => [
      ...strayFiles(area),
      ...problemsOfNotes(area),
      ...languagesOf(area).flatMap((language) => problemsOf(area, language)),
    ]),
  );
}
