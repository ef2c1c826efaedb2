/** Lines of an archive by kind. */
export type Lines = Record<string, object[]>;

export function add(lines: Lines, kind: string, line: object): void {
  lines[kind] ??= [];
  lines[kind].push(line);
}

const idIn = (line: object) => Number((line as { id?: number }).id ?? (line as { mod_id?: number }).mod_id ?? 0);

/** The lines of several mods, in the order of ids whatever answer came first, and every user once. */
export function merged(some: readonly Lines[]): Lines {
  const all: Lines = {};
  for (const each of some)
    for (const [kind, lines] of Object.entries(each)) for (const line of lines) add(all, kind, line);
  for (const lines of Object.values(all)) lines.sort((one, other) => idIn(one) - idIn(other));
  const users = new Map((all['users'] ?? []).map((line) => [idIn(line), line]));
  return { ...all, users: [...users.values()] };
}
