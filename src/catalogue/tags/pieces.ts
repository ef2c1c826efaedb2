import type { Transaction } from '../../platform/database/database.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type FieldTranslations, languagesIn, translationsIn } from '../../platform/localisation/translations.ts';
import { tagField } from './groups.ts';
import { toModTag } from './object.ts';
import * as store from './store.ts';

/** The tags in a mod's documents, and the languages in which they are told differently. Hidden ones are for filters. */
export async function tellTags(transaction: Transaction, mod: { id: number; game_id: number }) {
  const tags = (await store.tagsOfMod(transaction, mod.id)).filter((tag) => tag.hidden === 0);
  return telling(tags, tags.length > 0 ? await translationsIn(transaction, 'games', mod.game_id) : {});
}

type ShownTag = Pick<store.ModTag, 'id' | 'name' | 'date_added'>;

/** What there is to tell of these tags, with the translations of their game. */
export function telling(tags: readonly ShownTag[], ofGame: FieldTranslations) {
  const translations = Object.fromEntries(tags.map(({ id }) => [tagField(id), ofGame[tagField(id)] ?? {}]));
  const tell = (language: Language) => ({ tags: tags.map((tag) => toModTag(tag, translations, language)) });
  return Object.assign(tell, { languages: languagesIn(translations) });
}

/** Counts are of public mods, so a deleted one has left them before. */
export const removeTagsOfMod = async (transaction: Transaction, mod: { id: number }): Promise<void> =>
  void (await store.untagMod(transaction.query, mod.id));
