import { sql } from 'kysely';
import type { Database, Query } from './database.ts';
import type { Listing, ListRequest } from './listing.ts';
import { allowsTypo, isMistyped, termsOf, variantsOf, wordsOf } from './words.ts';

declare module './database.ts' {
  interface Tables {
    word_variants: { variant: string; word: string };
  }
}

/** Adds the words of names to typo correction, where they stay. */
export async function addTypoVariants(query: Query, words: readonly string[]): Promise<void> {
  const candidates = words.filter((word) => allowsTypo(word));
  if (candidates.length === 0) return;
  const known = await query
    .selectFrom('word_variants')
    .select('word')
    .where('variant', 'in', candidates)
    .whereRef('word', '=', 'variant')
    .execute();
  const knownWords = new Set(known.map(({ word }) => word));
  const rows = variantRows(candidates.filter((word) => !knownWords.has(word)));
  if (rows.length === 0) return;
  await query
    .insertInto('word_variants')
    .values(rows)
    .onConflict((key) => key.columns(['variant', 'word']).doNothing())
    .execute();
}

/** Replaces the search terms of a row in its resource's word table. */
export async function putNameWords(
  query: Query,
  { table, key }: NonNullable<Listing['words']>,
  id: number,
  name: string,
): Promise<void> {
  const words = wordsOf(name);
  await sql`delete from ${sql.table(table)} where ${sql.ref(key)} = ${id}`.execute(query);
  const rows = termsOf(words).map((term) => sql`(${id}, ${term})`);
  if (rows.length > 0)
    await sql`insert into ${sql.table(table)} (${sql.ref(key)}, word) values ${sql.join(rows)}`.execute(query);
  await addTypoVariants(query, words);
}

/** Sorted, so that two transactions that add the same words do not deadlock. */
function variantRows(words: readonly string[]): { variant: string; word: string }[] {
  const rows = words.flatMap((word) => variantsOf(word).map((variant) => ({ variant, word })));
  return rows.sort((a, b) => (a.variant + a.word < b.variant + b.word ? -1 : 1));
}

/** Adds likely corrections of the searched words to the request. */
export async function withLikelyWords(db: Database, request: ListRequest): Promise<ListRequest> {
  if (request.words.length === 0) return request;
  const variants = [...new Set(request.words.flatMap(variantsOf))];
  const rows = await db.query
    .selectFrom('word_variants')
    .select('word')
    .distinct()
    .where('variant', 'in', variants)
    .execute();
  const meant = rows.map(({ word }) => word).filter((word) => request.words.some((typed) => isMistyped(typed, word)));
  return { ...request, likely: meant.filter((word) => !request.words.includes(word)) };
}
