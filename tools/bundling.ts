import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import type { OutputChunk, Plugin } from 'rolldown';
import { hasCostlyExports, withoutCostlyExports } from '../bin/builtins.mjs';
import { MANIFEST, stateOf } from '../bin/bundle.mjs';

const ROOT = resolve(import.meta.dirname, '..');
const ENTRIES = { main: 'src/main.ts', 'service-process': 'src/commands/service-process.ts' };
/** Packages of ES modules that every start loads. */
const BUNDLED_PACKAGES = /^(?:jose|kysely|lru-cache|re2js|zod)(?:\/|$)/;
const VIRTUAL = '\0';

interface Manifest {
  /** The file of each entry, by its source. */
  readonly entries: Readonly<Record<string, string>>;
  readonly files: readonly string[];
  /** The state of each source. */
  readonly sources: Readonly<Record<string, string>>;
}

/**
 * Bundles the program into a folder beside `src`. Files of the previous bundle stay, because a service that still runs
 * loads some of them later.
 */
export async function bundleInto(folder: string): Promise<void> {
  // npm omits it from installations without development, and for unusual platforms.
  const { rolldown } = await import('rolldown');
  const sources = { 'package-lock.json': stateOf('package-lock.json') };
  const build = await rolldown({
    cwd: ROOT,
    input: ENTRIES,
    platform: 'node',
    tsconfig: false,
    transform: { target: 'esnext', typescript: { onlyRemoveTypeImports: true } },
    external: isExternal,
    plugins: [originalPlaces, cheapBuiltins, latinText, recordingSources(sources)],
  });
  const { output } = await build.write({
    dir: folder,
    format: 'esm',
    entryFileNames: '[name]-[hash].mjs',
    chunkFileNames: '[name]-[hash].mjs',
    sourcemap: true,
    comments: false,
  });
  const entries = output.filter((each): each is OutputChunk => each.type === 'chunk' && each.isEntry);
  publish(folder, {
    entries: Object.fromEntries(entries.map(({ facadeModuleId, fileName }) => [pathOf(facadeModuleId!), fileName])),
    files: output.map(({ fileName }) => fileName),
    sources,
  });
}

function publish(folder: string, manifest: Manifest): void {
  const file = join(folder, MANIFEST);
  const previous = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Manifest).files : [];
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${file}.new`, `${JSON.stringify(manifest, null, 1)}\n`);
  renameSync(`${file}.new`, file);
  const kept = new Set([MANIFEST, ...manifest.files, ...previous]);
  for (const name of readdirSync(folder)) if (!kept.has(name)) rmSync(join(folder, name));
}

const isExternal = (id: string): boolean =>
  !/^[./\0]|^[A-Za-z]:/.test(id) && !BUNDLED_PACKAGES.test(id) && !hasCostlyExports(id);

const pathOf = (file: string): string => relative(ROOT, file).replaceAll(sep, '/');

/** Modules find their files and threads beside their source, wherever the project is. */
const originalPlaces: Plugin = {
  name: 'original-places',
  transform: {
    filter: { id: /\/src\//, code: 'import.meta.' },
    handler: (code, id) => {
      const other = /import\.meta\.(?!url\b)\w+/.exec(code);
      if (other) throw new Error(`${pathOf(id)}: a bundle has no ${other[0]} of the source; use import.meta.url`);
      const place = `new URL('../${pathOf(id)}', import.meta.url).href`;
      return { code: code.replaceAll('import.meta.url', place), map: null };
    },
  },
};

const cheapBuiltins: Plugin = {
  name: 'cheap-builtins',
  resolveId: (id) => (hasCostlyExports(id) ? VIRTUAL + id : undefined),
  load: (id) => (id.startsWith(`${VIRTUAL}node:`) ? withoutCostlyExports(id.slice(VIRTUAL.length)) : undefined),
};

/** One other character, and a text takes two bytes for each. */
const latinText: Plugin = {
  name: 'latin-text',
  renderChunk: (code) => ({ code: code.replace(/[^\0-\xff]/g, escapeOf), map: null }),
};

const escapeOf = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

/** Records the states of all sources, before any of them could change. */
const recordingSources = (states: Record<string, string>): Plugin => ({
  name: 'recording-sources',
  load: (id) => {
    if (id.startsWith(ROOT) && !id.includes('node_modules')) states[pathOf(id)] = stateOf(pathOf(id));
  },
});
