import { readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

const PLACE = /(file:\/\/[^\s()]*\.mjs):(\d+):(\d+)/g;
const PLACES_MAX = 1_000;
/** Errors repeat, and reading a map takes up to a tenth of a second. */
const places = new Map<string, string>();
/** A map takes a multiple of its program's memory. */
const maps = new Map<string, WeakRef<SourceMap>>();

/** A stack trace that names sources, also of a program that runs from its bundle (`tools/bundle.ts`). */
export const sourceTrace = (stack: string): string =>
  stack.replace(PLACE, (place, file: string, line: string, column: string) => {
    const known = places.get(place);
    if (known !== undefined) return known;
    const found = sourcePlace(file, Number(line), Number(column)) ?? place;
    if (places.size < PLACES_MAX) places.set(place, found);
    return found;
  });

function sourcePlace(file: string, line: number, column: number): string | undefined {
  const origin = mapOf(file)?.findOrigin(line, column);
  if (!origin || !('fileName' in origin)) return undefined;
  return `${new URL(origin.fileName, file).href}:${origin.lineNumber}:${origin.columnNumber}`;
}

function mapOf(file: string): SourceMap | undefined {
  const known = maps.get(file)?.deref();
  if (known) return known;
  try {
    const map = new SourceMap(JSON.parse(readFileSync(fileURLToPath(`${file}.map`), 'utf8')));
    maps.set(file, new WeakRef(map));
    return map;
  } catch {
    // Without its map, the place in the bundle is all that is known.
    return undefined;
  }
}
