const LENGTH_MAX = 80;

/** A name for addresses: letters and digits of any script, joined by hyphens, without accents. */
export function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase();
  const joined = plain.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return Array.from(joined).slice(0, LENGTH_MAX).join('').replace(/-+$/, '');
}

/** The slug, or the slug with the first free number if it is taken or reserved. */
export function freeSlug(
  name: string,
  fallback: string,
  taken: readonly string[],
  isReserved: (nameId: string) => boolean = () => false,
): string {
  const stem = slug(name) || fallback;
  if (!taken.includes(stem) && !isReserved(stem)) return stem;
  for (let number = 2; ; number += 1) if (!taken.includes(`${stem}-${number}`)) return `${stem}-${number}`;
}
