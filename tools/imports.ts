import fs from 'node:fs';
import path from 'node:path';
import { type Rule, rules, type Side } from './import-rules.ts';

// Holds the imports of src/ against import-rules.ts. The tools that usually do this do not read TypeScript 7 yet.
// Types count as imports too.

type Patterns = Side['path'];
type Graph = ReadonlyMap<string, readonly string[]>;

const IMPORT = /^\s*(?:import|export)\b[^'";]*?from '([^']+)'|^import '([^']+)'|\bimport\('([^']+)'\)/gm;

function graphOf(folder: string): Graph {
  const files = fs.globSync(`${folder}/**/*.ts`).filter((file) => !file.endsWith('.test.ts'));
  return new Map(files.sort().map((file) => [file, importsOf(file)]));
}

function importsOf(file: string): string[] {
  const found = [...fs.readFileSync(file, 'utf8').matchAll(IMPORT)];
  const targets = found.map(([, from, bare, dynamic]) => placeOf(file, (from ?? bare ?? dynamic)!));
  return [...new Set(targets)];
}

function placeOf(file: string, target: string): string {
  if (target.startsWith('.')) return path.posix.join(path.posix.dirname(file), target);
  return target.startsWith('node:') ? target : `node_modules/${target}/`;
}

const listOf = (patterns: Patterns): readonly string[] => [patterns ?? []].flat();

/** The groups of the first pattern that fits, for `$1` in the other side of the rule. */
function fit(patterns: Patterns, text: string, groups: readonly string[] = []): RegExpExecArray | undefined {
  const filled = listOf(patterns).map((pattern) =>
    pattern.replace(/\$(\d)/g, (_, index) => groups[Number(index)] ?? ''),
  );
  return filled.map((pattern) => new RegExp(pattern).exec(text)).find((match) => match !== null) ?? undefined;
}

function breaches(rule: Rule, graph: Graph): string[] {
  if (rule.to.circular) return cyclesIn(graph);
  return [...graph].flatMap(([file, targets]) => {
    const groups = fit(rule.from.path ?? '', file);
    if (!groups || fit(rule.from.pathNot, file)) return [];
    const bad = targets.filter((to) => fit(rule.to.path ?? '', to, groups) && !fit(rule.to.pathNot, to, groups));
    return bad.map((target) => `${file} → ${target}`);
  });
}

/** One shortest way round from each file that is on one; the same round is told once. */
function cyclesIn(graph: Graph): string[] {
  const rounds = new Map<string, string>();
  for (const file of graph.keys()) {
    const round = wayBack(graph, file);
    if (round) rounds.set(round.toSorted().join(), [...round, file].join(' → '));
  }
  return [...rounds.values()];
}

function wayBack(graph: Graph, start: string): string[] | undefined {
  const ways = [[start]];
  const seen = new Set<string>();
  for (const way of ways)
    for (const next of graph.get(way.at(-1)!) ?? []) {
      if (next === start) return way;
      if (!seen.has(next)) ways.push([...way, next]);
      seen.add(next);
    }
  return undefined;
}

function main(): number {
  const graph = graphOf('src');
  const found = rules.flatMap((rule) =>
    breaches(rule, graph).map((breach) => `${rule.name} (${rule.says}): ${breach}`),
  );
  for (const line of found) console.error(line);
  const imports = [...graph.values()].flat().length;
  console.log(`${graph.size} files with ${imports} imports, ${found.length} against the rules`);
  return found.length === 0 && imports > 0 ? 0 : 1;
}

process.exitCode = main();
