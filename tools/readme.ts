import fs from 'node:fs';
import { parseArgs } from 'node:util';
import { definitions } from '../src/platform/config/settings.ts';

const help = `npm run readme [-- --check]

Fills the table of settings in README.md, between <!-- settings --> and <!-- /settings -->.

  --check   write nothing, and fail when it is not up to date
  --help    print this`;

const file = 'README.md';
const opening = '<!-- settings -->';
const closing = '<!-- /settings -->';

/** The README as it should be, or a sentence about why that cannot be told. */
function filled(readme: string | undefined): { text: string } | { problem: string } {
  if (readme === undefined) return { problem: `${file} does not exist.` };
  const start = readme.indexOf(opening);
  const end = readme.indexOf(closing);
  if (start === -1 || end < start) return { problem: `${file} has no ${opening} … ${closing} to fill.` };
  return { text: `${readme.slice(0, start + opening.length)}\n\n${settingsTable()}\n\n${readme.slice(end)}` };
}

function settingsTable(): string {
  const rows = Object.values(definitions).map(({ name, fallback, says }) => [`\`${name}\``, fallback, says]);
  const lines = [['Setting', 'Default', 'Meaning'], ['---', '---', '---'], ...rows];
  return lines.map((cells) => `| ${cells.map(escaped).join(' | ')} |`).join('\n');
}

const escaped = (text: string) => text.replaceAll('|', '\\|').replace(/^\*$/, '`*`');

const read = () => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : undefined);

/** What is wrong with the table, in a sentence; nothing where it is up to date. */
export function readmeProblem(): string | undefined {
  const readme = read();
  const wanted = filled(readme);
  if ('problem' in wanted) return wanted.problem;
  return wanted.text === readme ? undefined : `The settings in ${file} are not up to date; npm run readme fills them.`;
}

function write(): string | undefined {
  const wanted = filled(read());
  if ('problem' in wanted) return wanted.problem;
  fs.writeFileSync(file, wanted.text);
  return undefined;
}

function main(): number {
  const { values } = parseArgs({ options: { check: { type: 'boolean' }, help: { type: 'boolean' } } });
  if (values.help) {
    console.log(help);
    return 0;
  }
  const problem = values.check ? readmeProblem() : write();
  if (problem) console.error(problem);
  return problem ? 1 : 0;
}

if (import.meta.main) process.exitCode = main();
