import fs from 'node:fs';
import path from 'node:path';
import { filesBelow } from './doc-files.ts';
import { brokenCommandsOf, brokenSamplesOf, namesIn } from './doc-samples.ts';

const withoutCode = (markdown: string) => markdown.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, 'code');

/** The anchor of a heading, as GitHub derives it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');

const anchorsOf = (file: string) =>
  new Set([...fs.readFileSync(file, 'utf8').matchAll(/^#{1,6} (.+)$/gm)].map(([, heading]) => anchorOf(heading!)));

function brokenLinksOf(file: string): string[] {
  const links = [...withoutCode(fs.readFileSync(file, 'utf8')).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links
    .filter((link) => !/^[a-z]+:/.test(link))
    .filter((link) => {
      const [name = '', anchor] = link.split('#');
      const target = name ? path.join(path.dirname(file), name) : file;
      if (!fs.existsSync(target)) return true;
      return anchor !== undefined && target.endsWith('.md') && !anchorsOf(target).has(anchor);
    })
    .map((link) => `${file} links to ${link}, which does not exist.`);
}

/** Files that the reader of a recipe creates: the Italian texts and a dated migration. */
const CREATED = /(?:\/it\.json|\/migrations\/\d{4}-\d\d-\d\d-[\w-]+\.ts)$/;

/** Paths of the tree in code spans, such as `src/main.ts`; patterns such as `src/<domain>/` are skipped. */
function brokenPathsOf(file: string): string[] {
  const isRecipe = file.startsWith('docs/recipes/');
  return [...fs.readFileSync(file, 'utf8').matchAll(/`((?:src|test|tools|bench|bin|contract|docs)\/[\w./-]+)`/g)]
    .filter(([, name]) => !fs.existsSync(name!) && !(isRecipe && CREATED.test(name!)))
    .map(([, name]) => `${file} names ${name}, which does not exist.`);
}

/** Paths in comments and messages of a source; the runner's tests create files of such names. */
function brokenSourcePathsOf(file: string): string[] {
  if (file === 'test/runner.test.ts') return [];
  const paths = fs
    .readFileSync(file, 'utf8')
    .matchAll(/(?<![\w./@-])(?:src|test|tools|bench|docs)\/[\w./-]+\.(?:ts|md)\b/g);
  return [...paths]
    .filter(([name]) => !fs.existsSync(name))
    .map(([name]) => `${file} names ${name}, which does not exist.`);
}

/** Comments name decisions by number, as in "decision 37". */
function brokenDecisionsOf(file: string, numbers: ReadonlySet<number>): string[] {
  return [...fs.readFileSync(file, 'utf8').matchAll(/\bdecisions? (\d{1,4})\b/gi)]
    .filter(([, number]) => !numbers.has(Number(number)))
    .map(([text]) => `${file} names ${text}, which does not exist.`);
}

/** Links, paths, commands, decisions and code samples in documents that name something that does not exist. */
export function brokenLinks(): string[] {
  const numbers = new Set(fs.readdirSync('docs/decisions').map((name) => Number.parseInt(name, 10)));
  const sources = ['src', 'test', 'tools', 'bench'].flatMap((folder) => filesBelow(folder, /\.ts$/));
  const documents = filesBelow('.', /\.md$/);
  const names = namesIn(sources);
  return [
    ...documents.flatMap(brokenLinksOf),
    ...documents.flatMap(brokenPathsOf),
    ...sources.flatMap(brokenSourcePathsOf),
    ...documents.flatMap(brokenCommandsOf),
    ...documents.filter((file) => file.startsWith('docs/recipes/')).flatMap((file) => brokenSamplesOf(file, names)),
    ...[...documents, ...sources].flatMap((file) => brokenDecisionsOf(file, numbers)),
  ];
}
