// Node.js searches for each import of each module, for its package and for its format: a quarter of the time of a start.
// Our own modules name each other exactly, all of them mean the same by a name, and a folder's modules have one format.
import module from 'node:module';
import { hasCostlyExports, withoutCostlyExports } from './builtins.mjs';

const SOURCES = new URL('../src/', import.meta.url).href;
const PLACES = [SOURCES, new URL('../test/', import.meta.url).href];
const CHEAP = 'cheap:';
/** What a bare name means in our own modules. */
const named = new Map();
/** Folders of packages whose `.js` files are ES modules. */
const moduleFolders = new Set();

module.registerHooks({
  resolve: (specifier, context, next) => {
    const { parentURL } = context;
    if (hasCostlyExports(specifier) && parentURL?.startsWith(SOURCES))
      return { url: `${CHEAP}${specifier}`, format: 'module', shortCircuit: true };
    if (!specifier.startsWith('.'))
      return isOurs(parentURL) ? resolveName(specifier, context, next) : next(specifier, context);
    if (specifier.endsWith('.ts') && isOurs(parentURL))
      return { url: new URL(specifier, parentURL).href, format: 'module-typescript', shortCircuit: true };
    if (specifier.endsWith('.js') && context.conditions.includes('import'))
      return resolveBeside(specifier, context, next);
    return next(specifier, context);
  },
  load: (url, context, next) =>
    url.startsWith(CHEAP)
      ? { source: withoutCostlyExports(url.slice(CHEAP.length)), format: 'module', shortCircuit: true }
      : next(url, context),
});

function isOurs(url) {
  return url !== undefined && PLACES.some((place) => url.startsWith(place));
}

function resolveName(name, context, next) {
  const kind = context.conditions.includes('import') ? 'import' : 'require';
  const key = `${kind} ${name}`;
  if (!named.has(key)) named.set(key, { ...next(name, context), shortCircuit: true });
  return named.get(key);
}

function resolveBeside(specifier, context, next) {
  const url = new URL(specifier, context.parentURL).href;
  const folder = url.slice(0, url.lastIndexOf('/'));
  if (moduleFolders.has(folder)) return { url, format: 'module', shortCircuit: true };
  const found = next(specifier, context);
  if (found.format === 'module') moduleFolders.add(folder);
  return found;
}
