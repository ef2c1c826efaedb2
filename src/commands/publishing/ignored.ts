/** Never part of a mod: what describes the upload, and what tools leave in folders. */
const ALWAYS = [
  '/modstead.json',
  '/.modsteadignore',
  '.git',
  '.hg',
  '.svn',
  '.DS_Store',
  'Thumbs.db',
  'desktop.ini',
] as const;

interface Rule {
  readonly pattern: RegExp;
  readonly ignores: boolean;
  readonly foldersOnly: boolean;
}

/** Reads an ignore file, whose lines are as in `.gitignore`, without character classes. The last match decides. */
export function ignoredBy(text: string): (path: string, isFolder: boolean) => boolean {
  const lines = [...text.split(/\r?\n/), ...ALWAYS].map((line) => line.trim());
  const rules = lines.filter((line) => line !== '' && !line.startsWith('#')).map(toRule);
  return (path, isFolder) =>
    rules.findLast(({ pattern, foldersOnly }) => (isFolder || !foldersOnly) && pattern.test(path))?.ignores ?? false;
}

function toRule(line: string): Rule {
  const ignores = !line.startsWith('!');
  const text = ignores ? line : line.slice(1);
  const foldersOnly = text.endsWith('/');
  const bare = text.replace(/\/$/, '');
  // A slash that is not the last character ties the pattern to the folder of the ignore file.
  const start = bare.includes('/') ? '^' : '^(?:.*/)?';
  const pattern = new RegExp(
    `${start}${bare
      .replace(/^\//, '')
      .split(/(\*\*\/|\*\*|\*|\?)/)
      .map(toExpression)
      .join('')}$`,
  );
  return { pattern, ignores, foldersOnly };
}

const WILDCARDS: Readonly<Record<string, string>> = { '**/': '(?:.*/)?', '**': '.*', '*': '[^/]*', '?': '[^/]' };
const toExpression = (part: string): string => WILDCARDS[part] ?? part.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
