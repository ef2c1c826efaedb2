const LENGTH_MAX = 80;

/** A name as part of an address: letters and digits of any script, joined by hyphens, accents dropped. */
export function slug(name: string): string {
  const plain = name
    .normalize('NFKD')
    .replace(/\p{Mn}/gu, '')
    .normalize('NFC')
    .toLowerCase();
  const joined = plain.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-+|-+$/g, '');
  return Array.from(joined).slice(0, LENGTH_MAX).join('').replace(/-+$/, '');
}

/** The slug itself, or with the first number behind it that none of the taken ones has, where it is taken or reserved. */
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
