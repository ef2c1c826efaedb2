type Words = { readonly [key: string]: unknown };

/** A text by a name that is data, such as that of a field; the name itself if there is none. */
export function word(words: unknown, ...path: (string | number)[]): string {
  return wordOrNone(words, ...path) ?? String(path.at(-1));
}

export function wordOrNone(words: unknown, ...path: (string | number)[]): string | undefined {
  let found: unknown = words;
  for (const key of path) found = typeof found === 'object' && found !== null ? (found as Words)[key] : undefined;
  return typeof found === 'string' ? found : undefined;
}
