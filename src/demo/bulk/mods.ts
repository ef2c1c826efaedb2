import { countPublicMods } from '../../catalogue/games/stats.ts';
import { isPublic } from '../../catalogue/mods/access.ts';
import { documentsFor, rebuildModDocumentsOfMovedSite } from '../../catalogue/mods/documents.ts';
import type { FieldsByLanguage } from '../../catalogue/mods/extensions.ts';
import { type ModRow, type ModStats, NEW_MOD } from '../../catalogue/mods/mods.ts';
import { countWords } from '../../catalogue/mods/search-store.ts';
import type { ModCardsTable, ModWordsTable } from '../../catalogue/mods/table.ts';
import { rebuildModWords, wordsScope } from '../../catalogue/mods/words.ts';
import type { App } from '../../platform/app.ts';
import { type Bulk, countIdsOn } from '../../platform/database/bulk.ts';
import { addTypoVariants } from '../../platform/database/search.ts';
import { fold, termsOf, wordsOf } from '../../platform/database/words.ts';
import type { FieldTranslations } from '../../platform/text/translations.ts';
import * as store from './store.ts';

/** A mod with its stats, and the fields that other resources add to its documents. */
export interface WholeMod {
  readonly mod: Omit<ModRow, Derived> & Partial<Pick<ModRow, keyof typeof NEW_MOD>>;
  readonly stats: Omit<ModStats, 'mod_id'>;
  readonly translations: FieldTranslations;
  readonly contributed: readonly FieldsByLanguage[];
}
type Derived = keyof typeof NEW_MOD | 'name_folded' | keyof Figures;
type Figures = Pick<ModRow, 'downloads_today' | 'downloads_total' | 'subscribers_total' | 'ratings_weighted_aggregate'>;

export const BULK_TABLES = ['mods', 'mod_stats', 'mod_cards', 'mod_documents', 'mod_words'] as const;

/** Adds mods of one game in bulk. `finish` writes the counts once all of them are added. */
export class ModsInBulk {
  readonly #app: App;
  readonly #bulk: Bulk;
  readonly #gameId: number;
  readonly #words = new Map<string, number>();
  readonly #lists: WordLists;
  #shown = 0;

  constructor(app: App, bulk: Bulk, gameId: number) {
    this.#app = app;
    this.#bulk = bulk;
    this.#gameId = gameId;
    this.#lists = new WordLists(bulk, gameId);
  }

  /** `files` are their live files, in the same order. */
  async add(wholes: readonly WholeMod[], files: readonly LiveFile[]): Promise<ModRow[]> {
    const mods = wholes.map(({ mod, stats }) => rowOf(mod, stats));
    const words = mods.map(({ name }) => wordsOf(name));
    const documents = wholes.map(({ translations, contributed }, i) =>
      documentsFor(this.#app, mods[i]!, translations, contributed),
    );
    await store.addMods(this.#bulk, {
      mods,
      stats: wholes.map(({ mod, stats }) => ({ mod_id: mod.id, ...stats })),
      cards: mods.map((mod, i) => cardOf(mod, files[i]!, documents[i]!.english)),
      documents: documents.flatMap(({ translated }) => translated),
    });
    for (const [i, mod] of mods.entries()) this.#count(mod, words[i]!);
    await this.#lists.add(mods, words);
    return mods;
  }

  #count(mod: ModRow, words: readonly string[]): void {
    const shown = Number(isPublic(mod));
    this.#shown += shown;
    for (const word of words) this.#words.set(word, (this.#words.get(word) ?? 0) + shown);
  }

  async finish(): Promise<void> {
    const { transaction } = this.#bulk;
    await this.#lists.write();
    await countIdsOn(this.#bulk, 'mods');
    for (const [count, words] of Map.groupBy(this.#words.keys(), (word) => this.#words.get(word)!))
      for (const some of slices(words, WORDS_AT_ONCE)) {
        if (count > 0) await countWords(transaction.query, this.#gameId, some, count);
        await addTypoVariants(transaction.query, some);
      }
    await countPublicMods(transaction, this.#gameId, this.#shown);
    transaction.changed(`games/${this.#gameId}/mods`);
    transaction.changed(wordsScope(this.#gameId));
  }
}

/** The live file that a mod shows to requests without a platform. */
export type LiveFile = Pick<ModCardsTable, 'file_id' | 'file_link' | 'file_body'>;

/** The row that `putCard` would write. Sample mods have no dependencies. */
const cardOf = (mod: ModRow, file: LiveFile, body: string): ModCardsTable => ({
  mod_id: mod.id,
  game_id: mod.game_id,
  status: mod.status,
  visible: mod.visible,
  submitted_by: mod.submitted_by,
  needs: 0,
  file_id: file.file_id,
  name_id: mod.name_id,
  file_body: file.file_body,
  body,
  file_link: file.file_link,
});

interface Listed {
  readonly id: number;
  readonly popularity: number;
}

const LISTED_MAX = 20_000_000;
const ROWS_AT_ONCE = 10_000;

/**
 * Collects the words of mods and writes them in the order of the table's key: written mod by mod, every row would touch
 * another page.
 */
class WordLists {
  readonly #bulk: Bulk;
  readonly #gameId: number;
  /** Mods by word: first those that are not public, then those that are. */
  readonly #lists = [new Map<string, Listed[]>(), new Map<string, Listed[]>()] as const;
  #listed = 0;

  constructor(bulk: Bulk, gameId: number) {
    this.#bulk = bulk;
    this.#gameId = gameId;
  }

  async add(mods: readonly ModRow[], words: readonly (readonly string[])[]): Promise<void> {
    for (const [i, mod] of mods.entries()) this.#list(mod, termsOf(words[i]!));
    if (this.#listed > LISTED_MAX) await this.write();
  }

  #list(mod: ModRow, terms: readonly string[]): void {
    const lists = this.#lists[isPublic(mod) ? 1 : 0];
    const listed = { id: mod.id, popularity: mod.popularity };
    for (const term of terms) {
      const list = lists.get(term);
      if (list) list.push(listed);
      else lists.set(term, [listed]);
    }
    this.#listed += terms.length;
  }

  async write(): Promise<void> {
    let rows: ModWordsTable[] = [];
    for (const row of this.#rows()) {
      rows.push(row);
      if (rows.length < ROWS_AT_ONCE) continue;
      await store.addWords(this.#bulk, rows);
      rows = [];
    }
    await store.addWords(this.#bulk, rows);
    for (const lists of this.#lists) lists.clear();
    this.#listed = 0;
  }

  *#rows(): Generator<ModWordsTable> {
    for (const [shown, lists] of this.#lists.entries())
      for (const word of [...lists.keys()].sort())
        for (const { id, popularity } of lists.get(word)!.sort(mostPopularFirst))
          yield { game_id: this.#gameId, shown, word, popularity, mod_id: id };
  }
}

const mostPopularFirst = (a: Listed, b: Listed) => b.popularity - a.popularity || a.id - b.id;

/** Updates the existing mods first, so that the next start does not have to rewrite the new ones too. */
export async function prepareForBulk(app: App): Promise<void> {
  await rebuildModDocumentsOfMovedSite(app);
  await rebuildModWords(app);
}

const WORDS_AT_ONCE = 500;

function slices<T>(all: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

function rowOf(mod: WholeMod['mod'], stats: WholeMod['stats']): ModRow {
  const { downloads_today, downloads_total, subscribers_total, ratings_weighted_aggregate } = stats;
  const figures = { downloads_today, downloads_total, subscribers_total, ratings_weighted_aggregate };
  const whole = { ...NEW_MOD, ...figures, ...mod, name_folded: fold(mod.name) };
  return { ...whole, metadata_blob_folded: fold(whole.metadata_blob ?? '') };
}
