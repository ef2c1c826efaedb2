import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { sectionOf } from './src/texts/sections.ts';

const ROUTES = path.resolve(import.meta.dirname, 'src/routes');
/** The folders whose pages get parts of areas, with the areas that their layouts load. The last one lists the sections. */
const ROOTS: Readonly<Record<string, readonly string[]>> = {
  'g/[game]/admin': ['dashboard', 'moderation'],
  admin: ['dashboard', 'moderation', 'staff'],
  setup: ['dashboard', 'staff'],
  studio: ['dashboard', 'staff'],
  '(making)': ['making'],
};
/** A text that more sections name is loaded with all of them. */
const MOST_SECTIONS = 6;
/** Groups whose texts are chosen by a name that the sources have; of other groups a section has all texts or none. */
const NAMED = new Set(['fields', 'hints', 'options', 'leads']);

export interface Section {
  readonly name: string;
  /** The areas of which it has texts. */
  readonly areas: readonly string[];
}

interface Sections {
  /** The sections that have a text; none if it is loaded with all of them. */
  of(area: string, key: string): readonly Section[];
  /** The sections that are found with an area. */
  listedBy(area: string): readonly Section[];
}

/** The areas that are split into sections. */
export const SPLIT: ReadonlySet<string> = new Set(Object.values(ROOTS).flat());

/**
 * Which sections need a text. A section gets the texts that its files name, with all that they import. What the layouts
 * name, many sections, or none, is loaded with all of them: a name may come from the API.
 */
export function findSections(): Sections {
  const sections = new Map<string, Section>();
  const mentions = new Map<string, Set<Section>>();
  const ofLayouts = new Map<string, Set<string>>();
  for (const [root, areas] of Object.entries(ROOTS))
    for (const file of pagesIn(path.join(ROUTES, root))) {
      const words = namesIn(withImports(file));
      if (path.basename(file).startsWith('+layout'))
        for (const word of words) for (const area of areas) add(ofLayouts, area, word);
      else {
        const name = sectionOf(`/${path.relative(ROUTES, path.dirname(file))}`);
        const section = sections.get(name) ?? { name, areas };
        sections.set(name, section);
        for (const word of words) add(mentions, word, section);
      }
    }
  const known = new Map<string, readonly Section[]>();
  const find = (area: string, key: string): readonly Section[] => {
    const name = nameOf(key);
    if (ofLayouts.get(area)?.has(name)) return [];
    const named = [name, `${name.split('_')[0]}_`].flatMap((each) => [...(mentions.get(each) ?? [])]);
    const found = [...new Set(named)].filter(({ areas }) => areas.includes(area));
    return found.length > MOST_SECTIONS ? [] : found;
  };
  return {
    of(area, key) {
      const at = `${area}/${key}`;
      const found = known.get(at) ?? find(area, key);
      known.set(at, found);
      return found;
    },
    listedBy: (area) =>
      [...sections.values()]
        .filter(({ areas }) => areas.at(-1) === area)
        .toSorted((one, other) => (one.name < other.name ? -1 : 1)),
  };
}

function add<Value>(sets: Map<string, Set<Value>>, key: string, value: Value): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value));
}

function nameOf(key: string): string {
  const [group = '', name = ''] = key.split('.');
  if (group === 'leads') return `leads.${name}`;
  return NAMED.has(group) ? name : group;
}

const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter(({ name }) => /^\+(page|layout)\b/.test(name))
    .map(({ parentPath, name }) => path.join(parentPath, name));

const ALIASES = Object.entries(
  (JSON.parse(readFileSync(path.resolve(import.meta.dirname, 'package.json'), 'utf8')) as { imports: object }).imports,
).filter(([alias]) => alias.endsWith('/*')) as [string, string][];

/** The path of an imported file of the site. */
function fileOf(imported: string, from: string): string {
  const [alias, folder] = ALIASES.find(([each]) => imported.startsWith(each.slice(0, -1))) ?? [];
  if (!alias || !folder) return path.resolve(from, '..', imported);
  return path.resolve(import.meta.dirname, folder.replace('*', imported.slice(alias.length - 1)));
}

/** The file and what it imports of the site, and so on. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const [, imported] of readFileSync(file, 'utf8').matchAll(/'((?:#\w+|\.{1,2})\/[^']+\.(?:svelte|ts))'/g))
    withImports(fileOf(imported!, file), found);
  return found;
}

/** All words, `leads.name` for leads, and the beginnings of names that end with a value: `portal_${name}`. */
function* namesIn(files: Iterable<string>): Generator<string> {
  for (const file of files) {
    const code = readFileSync(file, 'utf8');
    for (const [, dotted, quoted] of code.matchAll(/\bleads(?:\.(\w+)|\['([\w-]+)'\])/g))
      yield `leads.${dotted ?? quoted}`;
    for (const [word] of code.matchAll(/[A-Za-z]\w*/g)) yield word;
  }
}
