import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import { addTypoVariants } from '../../platform/database/search.ts';
import { termsOf, wordsOf } from '../../platform/database/words.ts';
import { isPublic } from './access.ts';
import * as searchStore from './search-store.ts';
import type * as store from './store.ts';
import type { ModWordsTable } from './table.ts';

/** The scope that makes cached totals of searches stale. */
export const wordsScope = (gameId: number) => `games/${gameId}/mods/words`;

type Named = Pick<store.ModRow, 'id' | 'game_id' | 'name' | 'status' | 'visible' | 'popularity'>;

/** Updates the search index to the mod's current texts. Public search finds the mod only while it is public. */
export async function updateWords(transaction: Transaction, before: Named | undefined, after: Named): Promise<void> {
  const { query, changed } = transaction;
  if (before && before.name === after.name && isPublic(before) === isPublic(after)) return;
  const [known, words] = [before && isPublic(before) ? wordsOf(before.name) : [], wordsOf(after.name)];
  await searchStore.putWords(query, after.id, wordRows(after, words));
  const shown = isPublic(after) ? words : [];
  await searchStore.countWords(query, after.game_id, without(known, shown), -1);
  await searchStore.countWords(query, after.game_id, without(shown, known), 1);
  await addTypoVariants(query, words);
  changed(wordsScope(after.game_id));
}

const wordRows = (mod: Named, words: readonly string[]): ModWordsTable[] =>
  termsOf(words).map((word) => ({
    game_id: mod.game_id,
    shown: Number(isPublic(mod)),
    word,
    popularity: mod.popularity,
    mod_id: mod.id,
  }));

const without = (some: readonly string[], others: readonly string[]) => some.filter((word) => !others.includes(word));

/** The version of the tokenizer; a new version rebuilds the words of all mods. */
const WORDS_FACT = 'mods.words';
const WORDS_FORM = '2';
const REBUILT_AT_ONCE = 500;

export async function rebuildModWords(app: App): Promise<void> {
  if ((await factOf(app.db.query, WORDS_FACT)) === WORDS_FORM) return;
  let last: number | undefined = 0;
  while (last !== undefined) {
    const after: number = last;
    last = await app.db.write((transaction) => rebuildSome(transaction, after));
  }
  await app.db.write(({ query }) => rememberFact(query, WORDS_FACT, WORDS_FORM));
}

/** Can restart after an interruption, because the first step clears the counts. */
async function rebuildSome(transaction: Transaction, afterId: number): Promise<number | undefined> {
  if (afterId === 0) await searchStore.removeAllWords(transaction.query);
  const mods = await searchStore.namedAfter(transaction.query, afterId, REBUILT_AT_ONCE);
  for (const mod of mods) await updateWords(transaction, undefined, mod);
  return mods.at(-1)?.id;
}
