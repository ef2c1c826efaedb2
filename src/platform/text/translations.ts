import { type Database, type Query, statement, type Transaction } from '../database/database.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Language, Translations } from '../localisation/languages.ts';

declare module '../database/database.ts' {
  interface Tables {
    translations: { resource: string; resource_id: number; field: string; language: string; text: string };
  }
}

/** New content needs its English text first; translations come with later edits. */
export function requireEnglish(language: Language, texts: Readonly<Record<string, unknown>>): void {
  if (language === 'en') return;
  const fields = Object.keys(texts).map((field) => ({ field, rule: 'english' }) as const);
  throw new ApiError('VALIDATION_GENERIC', { fields });
}

export type FieldTranslations = Record<string, Translations>;

/** Stores fields of a resource in one language other than English; an empty text deletes a translation. */
export async function translate(
  query: Query,
  resource: string,
  resourceId: number,
  language: Language,
  fields: Readonly<Record<string, string>>,
): Promise<void> {
  for (const [field, text] of Object.entries(fields)) {
    const row = { resource, resource_id: resourceId, field, language, text };
    await query
      .insertInto('translations')
      .values(row)
      .onConflict((key) => key.columns(['resource', 'resource_id', 'field', 'language']).doUpdateSet({ text }))
      .execute();
  }
}

const OF_RESOURCE = statement('select field, language, text from translations where resource = ? and resource_id = ?');

type TranslationRow = { field: string; language: Language; text: string };

/** All translations of a resource: field, then language. */
export async function translationsOf(db: Database, resource: string, resourceId: number): Promise<FieldTranslations> {
  return byField(await db.all<TranslationRow>(OF_RESOURCE, [resource, resourceId]));
}

export async function translationsIn(
  transaction: Transaction,
  resource: string,
  resourceId: number,
): Promise<FieldTranslations> {
  return byField(await transaction.all<TranslationRow>(OF_RESOURCE, [resource, resourceId]));
}

function byField(rows: readonly TranslationRow[]): FieldTranslations {
  const fields: FieldTranslations = {};
  for (const { field, language, text } of rows) {
    fields[field] ??= {};
    if (text) fields[field][language] = text;
  }
  return fields;
}

/** The languages with at least one translated field. */
export function languagesIn(fields: FieldTranslations): Language[] {
  return [...new Set(Object.values(fields).flatMap((translations) => Object.keys(translations) as Language[]))];
}

export const forgetTranslations = async (query: Query, resource: string, resourceId: number): Promise<void> =>
  void (await query
    .deleteFrom('translations')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .execute());
