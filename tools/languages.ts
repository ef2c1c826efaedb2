import { LANGUAGES } from '../src/platform/localisation/languages.ts';
import { AREAS, countsOf, languagesOf, problemsOf, strayFiles } from './language-checks.ts';

/** `npm run languages` prints how much of each area exists in each language, and what is wrong with the texts. */
const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
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
const problems = AREAS.flatMap((area) => [
  ...strayFiles(area),
  ...languagesOf(area).flatMap((language) => problemsOf(area, language)),
]);
const PRINTED_MAX = 500;
for (const problem of problems.slice(0, PRINTED_MAX)) console.log(problem);
console.log(problems.length === 0 ? 'All texts are complete and correct.' : `${problems.length} problems`);
process.exitCode = problems.length === 0 ? 0 : 1;
