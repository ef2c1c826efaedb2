import { contribute } from '../../platform/extensions.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type FieldTranslations, languagesIn, translationsIn } from '../../platform/text/translations.ts';
import { modExtensions } from '../mods/extensions.ts';
import { tagField } from '../tag-options/tag-options.ts';
import { countTagsOfMod } from './counts.ts';
import { toModTag } from './object.ts';
import * as store from './store.ts';
import { replaceTagsOfMod } from './tags.ts';

export const modExtension = contribute(modExtensions, {
  name: 'tags',
  // Tags of hidden groups are only for filters.
  fields: async (_, transaction, mod) => {
    const tags = (await store.tagsOfMod(transaction, mod.id)).filter((tag) => tag.hidden === 0);
    return tagFields(tags, tags.length > 0 ? await translationsIn(transaction, 'games', mod.game_id) : {});
  },
  onEdit: async (app, transaction, edit) => {
    if (edit.sent.tags) await replaceTagsOfMod(app, transaction, edit.levels, edit.mod, edit.sent.tags);
  },
  onPublicChange: (transaction, mod, isPublic) => countTagsOfMod(transaction, mod, isPublic ? 1 : -1),
  onPopularityChange: async (transaction, mods) => void (await store.rankTags(transaction, mods)),
  // Counts include public mods only, so a deleted mod is not in them any more.
  onRemove: async (_, transaction, mod) => void (await store.untagMod(transaction.query, mod.id)),
});

type ShownTag = Pick<store.ModTag, 'id' | 'name' | 'date_added'>;

export function tagFields(tags: readonly ShownTag[], translationsOfGame: FieldTranslations) {
  const translations = Object.fromEntries(tags.map(({ id }) => [tagField(id), translationsOfGame[tagField(id)] ?? {}]));
  const fieldsIn = (language: Language) => ({ tags: tags.map((tag) => toModTag(tag, translations, language)) });
  return Object.assign(fieldsIn, { languages: languagesIn(translations) });
}
