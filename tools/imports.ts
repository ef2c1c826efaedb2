import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { DOMAINS, type Domain, domainOf, type Rule, rules, type Side } from './import-rules.ts';

// Checks the imports of src/, client/ and site/, type imports included, against import-rules.ts. The usual tools do not support
// TypeScript 7 yet.

type Patterns = Side['path'];
type Graph = ReadonlyMap<string, readonly string[]>;

const IMPORT = /^\s*(?:import|export)\b[^'";]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function graphOf(...folders: readonly string[]): Graph {
  const found = folders.flatMap((folder) => fs.globSync(`${folder}/**/*.{ts,svelte}`));
  const files = found.filter((file) => !file.endsWith('.test.ts'));
  return new Map(files.sort().map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): string[] {
  const found = [...fs.readFileSync(file, 'utf8').matchAll(IMPORT)];
  const targets = found.map(([, from, bare, dynamic]) => resolved(file, (from ?? bare ?? dynamic)!));
  return [...new Set(targets)];
}

function resolved(file: string, target: string): string {
  if (target.startsWith('.')) return path.posix.join(path.posix.dirname(file), target);
  return target.startsWith('node:') ? target : `node_modules/${target}/`;
}

const listOf = (patterns: Patterns): readonly string[] => [patterns ?? []].flat();

/** The groups of the first pattern that matches, for `$1` in the other side of the rule. */
function match(patterns: Patterns, text: string, groups: readonly string[] = []): RegExpExecArray | undefined {
  const filled = listOf(patterns).map((pattern) =>
    pattern.replace(/\$(\d)/g, (_, index) => groups[Number(index)] ?? ''),
  );
  return filled.map((pattern) => new RegExp(pattern).exec(text)).find((found) => found !== null) ?? undefined;
}

function breaches(rule: Rule, graph: Graph): string[] {
  if (rule.to.circular) return cyclesIn(graph);
  return [...graph].flatMap(([file, targets]) => {
    const groups = match(rule.from.path ?? '', file);
    if (!groups || match(rule.from.pathNot, file)) return [];
    const bad = targets.filter((to) => match(rule.to.path ?? '', to, groups) && !match(rule.to.pathNot, to, groups));
    return bad.map((target) => `${file} → ${target}`);
  });
}

/** A shortest cycle through each node that is on one, without duplicates. */
function cyclesIn(graph: Graph): string[] {
  const cycles = new Map<string, string>();
  for (const node of graph.keys()) {
    const cycle = shortestCycle(graph, node);
    if (cycle) cycles.set(cycle.toSorted().join(), [...cycle, node].join(' → '));
  }
  return [...cycles.values()];
}

function shortestCycle(graph: Graph, start: string): string[] | undefined {
  const paths = [[start]];
  const seen = new Set<string>();
  for (const path of paths)
    for (const next of graph.get(path.at(-1)!) ?? []) {
      if (next === start) return path;
      if (!seen.has(next)) paths.push([...path, next]);
      seen.add(next);
    }
  return undefined;
}

const rank = (file: string): number => DOMAINS.indexOf(domainOf(file)!);
const edgesOf = (graph: Graph): [from: string, to: string][] =>
  [...graph].flatMap(([from, targets]) =>
    targets.filter((to) => graph.has(to)).map((to): [string, string] => [from, to]),
  );

/** A resource is `src/<domain>/<resource>`; its subfolders belong to it. */
const folderOf = (file: string): string => file.split('/').slice(0, -1).slice(0, 3).join('/');

function foldersOf(graph: Graph): Graph {
  const folders = new Map<string, Set<string>>();
  for (const [from, to] of edgesOf(graph)) {
    const targets = folders.get(folderOf(from)) ?? new Set();
    folders.set(folderOf(from), folderOf(to) === folderOf(from) ? targets : targets.add(folderOf(to)));
  }
  return new Map([...folders].map(([folder, targets]) => [folder, [...targets]]));
}

/** Counts the imports from the domain of a row to the domain of a column. */
function tableOf(graph: Graph): string {
  const count = (from: Domain, to: Domain) =>
    edgesOf(graph).filter((edge) => domainOf(edge[0]) === from && domainOf(edge[1]) === to).length;
  const rows = DOMAINS.map((from) => [from, ...DOMAINS.map((to) => String(count(from, to) || ''))]);
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`;
  return [line(['imports', ...DOMAINS]), line(['---', ...DOMAINS.map(() => '--:')]), ...rows.map(line)].join('\n');
}

export interface ImportReport {
  readonly table: string;
  readonly files: number;
  readonly imports: number;
  /** A line for each import against a rule. */
  readonly against: readonly string[];
  readonly up: readonly string[];
  readonly cycles: readonly string[];
}

export function reportImports(): ImportReport {
  const graph = graphOf('src', 'client/src', 'site/src');
  const against = rules.flatMap((rule) =>
    breaches(rule, graph).map((breach) => `${rule.name} (${rule.says}): ${breach}`),
  );
  const up = edgesOf(graph).filter(([from, to]) => rank(to) > rank(from));
  return {
    table: tableOf(graph),
    files: graph.size,
    imports: [...graph.values()].flat().length,
    against,
    up: up.map(([from, to]) => `imports up: ${from} → ${to}`),
    cycles: cyclesIn(foldersOf(graph)).map((cycle) => `folder cycle: ${cycle}`),
  };
}

function main(): number {
  const { table, files, imports, against, up, cycles } = reportImports();
  for (const line of [...against, ...up, ...cycles]) console.error(line);
  console.log(table);
  console.log(`${files} files with ${imports} imports, ${against.length} against the rules,`);
  console.log(`${up.length} arrows up, ${cycles.length} folder cycles`);
  return against.length + up.length + cycles.length === 0 && imports > 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = main();
