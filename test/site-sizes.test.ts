// Runs on one database: it reads files alone.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { sectionOf } from '../site/src/texts/sections.ts';
import { builtSite } from '../src/commands/site-build.ts';
import { BUDGETS } from '../tools/site-pages.ts';

interface Built {
  readonly file: string;
  readonly name?: string;
  readonly imports?: readonly string[];
}
interface Manifest {
  readonly client: { readonly start: string; readonly app: string; readonly nodes: readonly string[] };
  readonly routes: readonly {
    readonly id: string;
    readonly page: {
      readonly layouts: readonly (number | undefined)[];
      readonly errors: readonly (number | undefined)[];
      readonly leaf: number;
    } | null;
  }[];
}

const SITE = path.resolve('site');
const BUILD = path.join(SITE, 'build');

async function readBuild() {
  assert.ok(builtSite(), 'the site is built');
  const built = JSON.parse(
    fs.readFileSync(path.join(SITE, '.svelte-kit/output/client/.vite/manifest.json'), 'utf8'),
  ) as Record<string, Built>;
  const { manifest } = (await import(pathToFileURL(path.join(BUILD, 'server/manifest-full.js')).href)) as {
    manifest: Manifest;
  };
  return { built, manifest, named: new Map(Object.values(built).map((each) => [each.file, each])) };
}
const { built, manifest, named } = await readBuild();

/** A file with all that it imports when it is loaded. */
function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const each of named.get(file)?.imports ?? []) withImports(built[each]!.file, found);
  return found;
}

const sizes = new Map<string, number>();
/** As it is sent to a browser. */
function sizeOf(file: string): number {
  const known = sizes.get(file);
  if (known !== undefined) return known;
  const [smallest] = [`${file}.br`, file].map((each) => path.join(BUILD, 'client', each)).filter(fs.existsSync);
  const { size } = fs.statSync(smallest!);
  sizes.set(file, size);
  return size;
}

const layoutOf = (folder: string) => {
  const file = path.join(folder, '+layout.ts');
  return fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : '';
};

/** The areas of texts that the layouts of a route load. */
function areasOf(route: string): string[] {
  const folders = route
    .split('/')
    .map((_, index, parts) => path.join(SITE, 'src/routes', ...parts.slice(0, index + 1)));
  const lists = folders.map((folder) => /withAreas\([^[]*\[([^\]]*)\]/.exec(layoutOf(folder))?.[1] ?? '');
  return [...lists.join().matchAll(/'(\w+)'/g)].map(([, area]) => area!);
}

/** The files of a route's texts: of every page, of its areas, and of its section, which one of the areas lists. */
function textsOf(route: string, language: string): string[] {
  const [everywhere, ...areas] = ['everywhere', ...areasOf(route)].map(
    (area) => built[`virtual:texts/${area}/${language}`]!.file,
  );
  const codes = areas.map((file) => fs.readFileSync(path.join(BUILD, 'client', file), 'utf8'));
  const ofSection = new RegExp(`[{,]["'\`]?${sectionOf(route)}["'\`]?:\\(\\)=>[^,]*?import\\(.\\./([\\w-]+\\.js)`);
  const own = codes.flatMap((code) => ofSection.exec(code)?.[1] ?? []);
  const isSplit = codes.some((code) => /\bas sections\b/.test(code));
  assert.equal(own.length, isSplit ? 1 : 0, `${route} has one section`);
  return [everywhere!, ...areas, ...own.map((name) => path.posix.join(path.posix.dirname(everywhere!), name))];
}

/** Parts that a page loads for some mods or games alone. */
const RARE: Readonly<Record<string, readonly string[]>> = {
  '/(browse)/g/[game]/m/[mod]': ['Buy', 'Plot'],
  '/(making)/g/[game]/m/[mod]/edit/files': ['Cooking'],
};

function bytesOf({ id, page }: Manifest['routes'][number], language: string): number {
  const { start, app, nodes } = manifest.client;
  const parts = [...page!.layouts, ...page!.errors, page!.leaf].flatMap((node) =>
    node === undefined ? [] : [nodes[node]!],
  );
  const rare = (RARE[id] ?? []).map((name) => Object.values(built).find((each) => each.name === name)!.file);
  const files = new Set<string>();
  for (const file of [start, app, ...parts, ...rare, ...textsOf(id, language)]) withImports(file, files);
  return [...files].reduce((sum, file) => sum + sizeOf(file), 0);
}

const languages = Object.keys(built).flatMap(
  (source) => /^virtual:texts\/everywhere\/(?!.*-X)(.+)$/.exec(source)?.[1] ?? [],
);

test('the scripts of every page are within their budget in every language', () => {
  assert.equal(languages.length, 20);
  const routes = manifest.routes.filter(({ page }) => page !== null);
  assert.ok(routes.length > 100);
  const over = languages.flatMap((language) =>
    routes.flatMap((route) => {
      const bytes = bytesOf(route, language);
      return bytes > BUDGETS.scriptBytes ? [`${route.id} in ${language}: ${bytes}`] : [];
    }),
  );
  assert.deepEqual(over, []);
});
