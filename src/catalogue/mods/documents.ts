import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type FieldTranslations, languagesIn, translationsIn } from '../../platform/text/translations.ts';
import * as documentStore from './document-store.ts';
import { type FieldsByLanguage, modExtensions } from './extensions.ts';
import { type ContributedFields, toModBody } from './object.ts';
import * as store from './store.ts';
import type { ModDocumentsTable } from './table.ts';

const NO_FIELDS: ContributedFields = {
  media: { youtube: [], sketchfab: [], images: [] },
  platforms: [],
  metadata_kvp: [],
  tags: [],
  skus: [],
};

/** Rewrites the mod's documents: one in English, one per language with a translation. */
export async function rewriteModDocuments(app: App, transaction: Transaction, modId: number): Promise<void> {
  const mod = await store.rowForChange(transaction, modId);
  if (!mod) return;
  const translations = await translationsIn(transaction, 'mods', mod.id);
  const contributed: FieldsByLanguage[] = [];
  for (const { fields } of app.extensions.of(modExtensions))
    if (fields) contributed.push(await fields(app, transaction, mod));
  const { english, translated } = documentsFor(app, mod, translations, contributed);
  await documentStore.putCard(transaction, mod.id, english);
  for (const document of translated) await documentStore.putDocument(transaction, document);
  for (const language of await documentStore.documentLanguages(transaction, mod.id))
    if (!translated.some((document) => document.language === language))
      await documentStore.removeDocument(transaction, mod.id, language);
}

/** The mod object in English and in each language with a translation. */
export interface Documents {
  readonly english: string;
  readonly translated: readonly ModDocumentsTable[];
}

export function documentsFor(
  app: App,
  mod: store.ModRow,
  translations: FieldTranslations,
  contributed: readonly FieldsByLanguage[],
): Documents {
  const languages = new Set([...languagesIn(translations), ...contributed.flatMap((each) => each.languages ?? [])]);
  languages.delete('en');
  const bodyIn = (language: Language) => {
    const fields = Object.assign({}, NO_FIELDS, ...contributed.map((fieldsIn) => fieldsIn(language)));
    return bodyOf(toModBody(app, mod, fields, translations, language));
  };
  return {
    english: bodyIn('en'),
    translated: [...languages].map((language) => ({ mod_id: mod.id, language, body: bodyIn(language) })),
  };
}

/** Without its closing brace: fields that change independently of the mod are appended when it is sent. */
const bodyOf = (object: object) => JSON.stringify(object).slice(0, -1);

const SITE_FACT = 'mods.documents.site';
const REBUILT_AT_ONCE = 200;

/** Documents contain addresses, so they are rewritten when the site has moved to another domain or port. */
export async function rebuildModDocumentsOfMovedSite(app: App): Promise<void> {
  if ((await factOf(app.db.query, SITE_FACT)) === app.addresses.site) return;
  let last: number | undefined = 0;
  while (last !== undefined) last = await rebuildSome(app, last);
  await app.db.write(({ query }) => rememberFact(query, SITE_FACT, app.addresses.site));
}

/** Rewrites one batch, because there may be a million mods. Returns the id of the last one. */
function rebuildSome(app: App, afterId: number): Promise<number | undefined> {
  return app.db.write(async (transaction) => {
    const mods = await store.idsAfter(transaction.query, afterId, REBUILT_AT_ONCE);
    for (const { id, game_id } of mods) {
      await rewriteModDocuments(app, transaction, id);
      invalidateMod(transaction, game_id, id);
    }
    return mods.at(-1)?.id;
  });
}

/** Marks cached responses with the mod, and lists of the game's mods, as stale. */
export function invalidateMod(transaction: Transaction, gameId: number, id: number): void {
  transaction.changed(`mods/${id}`);
  transaction.changed(`games/${gameId}/mods`);
}
