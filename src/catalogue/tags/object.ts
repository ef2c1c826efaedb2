import { type Language, pick } from '../../platform/localisation/languages.ts';
import type { FieldTranslations } from '../../platform/text/translations.ts';
import { tagField } from '../tag-options/tag-options.ts';

export function toModTag(
  tag: { id: number; name: string; date_added: number },
  translations: FieldTranslations,
  language: Language,
): { name: string; name_localized: string; date_added: number } {
  const name_localized = pick(translations[tagField(tag.id)], tag.name, language);
  return { name: tag.name, name_localized, date_added: tag.date_added };
}
