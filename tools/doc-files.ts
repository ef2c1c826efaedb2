import fs from 'node:fs';
import path from 'node:path';

const SKIPPED = new Set(['node_modules', 'data', 'test-results', '.git']);

/** The files below a folder whose name matches, without generated and installed ones. */
export function filesBelow(folder: string, ending: RegExp): string[] {
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (SKIPPED.has(entry.name)) return [];
    const file = path.join(folder, entry.name);
    if (entry.isDirectory()) return filesBelow(file, ending);
    return ending.test(entry.name) ? [file] : [];
  });
}
