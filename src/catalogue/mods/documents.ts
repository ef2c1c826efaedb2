import { tellPlatforms } from '../../files/modfiles/pieces.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type FieldTranslations, languagesIn, translationsIn } from '../../platform/localisation/translations.ts';
import { tellMedia } from '../media/pieces.ts';
import { tellMetadata } from '../metadata/pieces.ts';
import { tellTags } from '../tags/pieces.ts';
import { type ModPieces, toModBody } from './object.ts';
import * as store from './store.ts';
import type { ModDocumentsTable } from './table.ts';

/**
 * Reads what another noun adds to the mod object, once, and tells it in each language. It comes from a file of that
 * noun that imports nothing of this one, or reads through a statement of `store.ts`: anything else would close a circle.
 */
export type Contributor = (app: App, transaction: Transaction, mod: store.ModRow) => Promise<Telling>;

/** `languages` are those in which it has something else to tell than in English. */
export type Telling = ((language: Language) => Partial<ModPieces>) & { readonly languages?: readonly Language[] };

/** Nouns add theirs here, and call `modChanged` when what it reads has changed. */
const CONTRIBUTORS: readonly Contributor[] = [
  (_, transaction, mod) => tellMetadata(transaction, mod),
  (_, transaction, mod) => tellPlatforms(transaction, mod),
  (_, transaction, mod) => tellTags(transaction, mod),
  tellMedia,
];

const NO_PIECES: ModPieces = {
  media: { youtube: [], sketchfab: [], images: [] },
  platforms: [],
  metadata_kvp: [],
  tags: [],
  skus: [],
};

/** Writes the mod's documents anew: one in English, one in each language that has a translation. */
export async function rewriteModDocuments(app: App, transaction: Transaction, modId: number): Promise<void> {
  const mod = await store.rowForChange(transaction, modId);
  if (!mod) return;
  const translations = await translationsIn(transaction, 'mods', mod.id);
  const contributed: Telling[] = [];
  for (const contributor of CONTRIBUTORS) contributed.push(await contributor(app, transaction, mod));
  const { english, translated } = documentsFor(app, mod, translations, contributed);
  await store.putCard(transaction, mod.id, english);
  for (const document of translated) await store.putDocument(transaction, document);
  for (const language of await store.documentLanguages(transaction, mod.id))
    if (!translated.some((document) => document.language === language))
      await store.removeDocument(transaction, mod.id, language);
}

/** The mod in each language in which there is something to say of it. */
export interface Documents {
  readonly english: string;
  readonly translated: readonly ModDocumentsTable[];
}

/** The documents of a mod, from all that is told of it. */
export function documentsFor(
  app: App,
  mod: store.ModRow,
  translations: FieldTranslations,
  contributed: readonly Telling[],
): Documents {
  const languages = new Set([...languagesIn(translations), ...contributed.flatMap((each) => each.languages ?? [])]);
  languages.delete('en');
  const bodyIn = (language: Language) => {
    const pieces = Object.assign({}, NO_PIECES, ...contributed.map((tell) => tell(language)));
    return bodyOf(toModBody(app, mod, pieces, translations, language));
  };
  return {
    english: bodyIn('en'),
    translated: [...languages].map((language) => ({ mod_id: mod.id, language, body: bodyIn(language) })),
  };
}

/** Without its closing brace: what changes without the mod is put behind it. */
const bodyOf = (object: object) => JSON.stringify(object).slice(0, -1);

const SITE_FACT = 'mods.documents.site';
const REBUILT_AT_ONCE = 200;

/** Documents hold addresses: when the site has moved to another domain or port, they are written anew. */
export async function rebuildModDocumentsOfMovedSite(app: App): Promise<void> {
  if ((await factOf(app.db.query, SITE_FACT)) === app.addresses.site) return;
  let last: number | undefined = 0;
  while (last !== undefined) last = await rebuildSome(app, last);
  await app.db.write(({ query }) => rememberFact(query, SITE_FACT, app.addresses.site));
}

/** Not all at once: there may be a million of them. Returns the last that was written. */
function rebuildSome(app: App, afterId: number): Promise<number | undefined> {
  return app.db.write(async (transaction) => {
    const mods = await store.idsAfter(transaction.query, afterId, REBUILT_AT_ONCE);
    for (const { id, game_id } of mods) {
      await rewriteModDocuments(app, transaction, id);
      announceMod(transaction, game_id, id);
    }
    return mods.at(-1)?.id;
  });
}

/** Lists of the game's mods and the mod itself are stale. */
export function announceMod(transaction: Transaction, gameId: number, id: number): void {
  transaction.changed(`mods/${id}`);
  transaction.changed(`games/${gameId}/mods`);
}
