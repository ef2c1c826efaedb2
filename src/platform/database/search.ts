import { sql } from 'kysely';
import type { Database, Query } from './database.ts';
import type { Listing, ListRequest } from './listing.ts';
import { isForgiven, isMistyped, termsOf, variantsOf, wordsOf } from './words.ts';

declare module './database.ts' {
  interface Tables {
    word_variants: { variant: string; word: string };
  }
}

/** Words that names have from now on are found with a letter mistyped, too. What was learned once stays. */
export async function learnWords(query: Query, words: readonly string[]): Promise<void> {
  const candidates = words.filter((word) => isForgiven(word));
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

/** What a row is found by from now on, in the table of words of its noun. */
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
  await learnWords(query, words);
}

/** In one order for all, so that two who learn the same words do not wait for each other. */
function variantRows(words: readonly string[]): { variant: string; word: string }[] {
  const rows = words.flatMap((word) => variantsOf(word).map((variant) => ({ variant, word })));
  return rows.sort((a, b) => (a.variant + a.word < b.variant + b.word ? -1 : 1));
}

/** The request together with the words that may have been meant by the ones it asks for. */
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
