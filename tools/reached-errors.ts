import fs from 'node:fs';
import path from 'node:path';
import type { Reached } from '../test/reached.ts';

/** One entry per error that a test reached, preferably by a test that uses only the API. */
export function reachedErrors(folder: string): Reached[] {
  const found = new Map<number, Reached>();
  for (const file of fs.globSync(path.join(folder, '*.json')).sort())
    for (const reached of JSON.parse(fs.readFileSync(file, 'utf8')) as Reached[]) {
      const known = found.get(reached.ref);
      if (!known || (known.wrote && !reached.wrote)) found.set(reached.ref, reached);
    }
  return [...found.values()].sort((one, other) => one.ref - other.ref);
}
