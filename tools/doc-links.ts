import fs from 'node:fs';
import path from 'node:path';

const SKIPPED = new Set(['node_modules', 'data', 'test-results', '.git']);

function filesBelow(folder: string, ending: RegExp): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(file, ending);
    return ending.test(entry.name) ? [file] : [];
  });
}

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

/** Recipes and releases name files that a reader is about to create. */
const NAMES_NEW_FILES = /^(?:docs\/recipes\/|docs\/releases\.md$)/;

/** Paths of the tree in code spans, such as `src/main.ts`; patterns such as `src/<domain>/` are skipped. */
function brokenPathsOf(file: string): string[] {
  if (NAMES_NEW_FILES.test(file)) return [];
  return [...fs.readFileSync(file, 'utf8').matchAll(/`((?:src|test|tools|bench|bin|contract)\/[\w./-]+)`/g)]
    .filter(([, name]) => !fs.existsSync(name!))
    .map(([, name]) => `${file} names ${name}, which does not exist.`);
}

/** Comments name decisions by number, as in "decision 37". */
function brokenDecisionsOf(file: string, numbers: ReadonlySet<number>): string[] {
  return [...fs.readFileSync(file, 'utf8').matchAll(/\bdecisions? (\d{1,4})\b/gi)]
    .filter(([, number]) => !numbers.has(Number(number)))
    .map(([text]) => `${file} names ${text}, which does not exist.`);
}

/** Links and paths in documents that lead to no file or heading, and decisions that no file records. */
export function brokenLinks(): string[] {
  const numbers = new Set(fs.readdirSync('docs/decisions').map((name) => Number.parseInt(name, 10)));
  const sources = ['src', 'test', 'tools', 'bench'].flatMap((folder) => filesBelow(folder, /\.ts$/));
  const documents = filesBelow('.', /\.md$/);
  return [
    ...documents.flatMap(brokenLinksOf),
    ...documents.flatMap(brokenPathsOf),
    ...[...documents, ...sources].flatMap((file) => brokenDecisionsOf(file, numbers)),
  ];
}
