import fs from 'node:fs';
import { filesBelow } from './doc-files.ts';

const SAMPLE = /^ *```ts\n([\s\S]*?)^ *```/gm;
const IMPORT = /^ *import (?:type )?\{([^}]+)\} from '(?:\.\.\/)+([\w./-]+)';$/gm;
const IDENTIFIER = /\b[a-z]+[A-Z]\w*\b/g;

/** Names that a recipe lets its reader create. */
const CREATED = new Set(['italianValidation', 'gamesFeatured', 'guidesTable']);

const SCRIPTS = Object.keys((JSON.parse(fs.readFileSync('package.json', 'utf8')) as { scripts: object }).scripts);
const TESTS = ['src', 'test'].flatMap((folder) => filesBelow(folder, /\.test\.ts$/));
const COMMANDS = [...fs.readFileSync('docs/commands.md', 'utf8').matchAll(/^## (.+)$/gm)].map(([, name]) => name!);

const codeOf = (markdown: string): string[] => [
  ...[...markdown.matchAll(SAMPLE)].map(([, code]) => code!),
  ...[...markdown.replace(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, code]) => code!),
];

/** `npm run` scripts, `npm test` patterns and `npx modstead` commands that do not exist. */
export function brokenCommandsOf(file: string): string[] {
  const text = fs.readFileSync(file, 'utf8');
  const scripts = [...text.matchAll(/npm run ([\w-]+)/g)].filter(([, name]) => !SCRIPTS.includes(name!));
  const patterns = [...text.matchAll(/npm test ([\w/ -]+)/g)].flatMap(([, list]) => list!.trim().split(/ +/));
  const commands = [...text.matchAll(/npx modstead ([a-z][a-z -]*)/g)].filter(
    ([, words]) => !COMMANDS.some((name) => words === name || words!.startsWith(`${name} `)),
  );
  return [
    ...scripts.map(([script]) => `${file} names "${script}", which package.json lacks.`),
    ...patterns
      .filter((pattern) => !pattern.startsWith('-') && !TESTS.some((test) => test.includes(pattern)))
      .map((pattern) => `${file} names "npm test ${pattern}", which matches no test file.`),
    ...commands.map(([command]) => `${file} names "${command}", which docs/commands.md lacks.`),
  ];
}

/** The camelCase names of all sources. */
export const namesIn = (sources: readonly string[]): ReadonlySet<string> =>
  new Set(sources.flatMap((source) => fs.readFileSync(source, 'utf8').match(IDENTIFIER) ?? []));

/** Imports of a recipe that do not exist, and names that occur in no source. */
export function brokenSamplesOf(file: string, names: ReadonlySet<string>): string[] {
  const code = codeOf(fs.readFileSync(file, 'utf8'));
  const used = new Set(code.flatMap((text) => text.match(IDENTIFIER) ?? []));
  return [
    ...code.flatMap((text) => brokenImportsOf(file, text)),
    ...[...used]
      .filter((name) => !names.has(name) && !CREATED.has(name))
      .map((name) => `${file} names ${name}, which occurs in no source file.`),
  ];
}

function brokenImportsOf(file: string, code: string): string[] {
  return [...code.matchAll(IMPORT)].flatMap(([, names, target]) => {
    const source = `src/${target}`;
    if (!fs.existsSync(source)) return [`${file} imports ${source}, which does not exist.`];
    const text = fs.readFileSync(source, 'utf8');
    return names!
      .split(',')
      .map((name) => name.replace('type ', '').trim())
      .filter((name) => !new RegExp(`^export .*\\b${name}\\b`, 'm').test(text))
      .map((name) => `${file} imports ${name}, which ${source} does not export.`);
  });
}
