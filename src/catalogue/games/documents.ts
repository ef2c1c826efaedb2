import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { factOf, rememberFact } from '../../platform/database/facts.ts';
import type { Language } from '../../platform/localisation/languages.ts';
import { type FieldTranslations, languagesIn, translationsIn } from '../../platform/text/translations.ts';
import { toTagOptionLocalized } from '../tag-options/object.ts';
import { type TagGroup, tagGroupsOf } from '../tag-options/tag-options.ts';
import { toGameBody } from './object.ts';
import * as store from './store.ts';

/** The site's address at the time the documents were written. */
export const SITE_FACT = 'games.documents.site';

/** Documents contain addresses, so they are rewritten when the site has moved to another domain or port. */
export async function rebuildDocumentsOfMovedSite(app: App): Promise<void> {
  if ((await factOf(app.db.query, SITE_FACT)) === app.addresses.site) return;
  await app.db.write(async (transaction) => {
    for (const id of await store.allIds(transaction.query)) {
      await rewriteDocuments(app, transaction, (await store.rowIn(transaction, id))!);
      transaction.changed(`games/${id}`);
    }
    await rememberFact(transaction.query, SITE_FACT, app.addresses.site);
    transaction.changed('games');
  });
}

/** Rewrites the game's documents: one in English, one per language with a translation. */
export async function rewriteDocuments(app: App, transaction: Transaction, game: store.GameRow): Promise<void> {
  const { translations, platforms, languages } = await sourcesOf(transaction, game);
  for (const language of languages) {
    const body = bodyOf(toGameBody(app, game, platforms, translations, language));
    await store.putDocument(transaction, { game_id: game.id, language, body });
  }
  await rewriteTags(transaction, game.id);
  for (const language of await store.documentLanguages(transaction, game.id))
    if (!languages.includes(language as Language)) await store.removeDocument(transaction, game.id, language);
}

/** Rewrites only the tags of the documents. */
export async function rewriteTags(transaction: Transaction, gameId: number): Promise<void> {
  const translations = await translationsIn(transaction, 'games', gameId);
  const groups = await tagGroupsOf(transaction.query, gameId);
  const shown = groups.filter((group) => group.hidden === 0);
  for (const language of languagesOf(translations)) {
    const jsonOf = (some: readonly TagGroup[]) =>
      JSON.stringify(some.map((group) => toTagOptionLocalized(group, translations, language)));
    await store.putTags(transaction, {
      game_id: gameId,
      language,
      tags: jsonOf(shown),
      tags_with_hidden: jsonOf(groups),
    });
  }
}

/** Rewrites only the bodies, for changes that touch neither tags nor the set of languages. */
export async function rewriteBodies(app: App, transaction: Transaction, game: store.GameRow): Promise<void> {
  const { translations, platforms, languages } = await sourcesOf(transaction, game);
  for (const language of languages)
    await store.putBody(
      transaction,
      game.id,
      language,
      bodyOf(toGameBody(app, game, platforms, translations, language)),
    );
}

async function sourcesOf(transaction: Transaction, game: store.GameRow) {
  const translations = await translationsIn(transaction, 'games', game.id);
  const platforms = await store.platformsIn(transaction, game.id);
  return { translations, platforms, languages: languagesOf(translations) };
}

const languagesOf = (translations: FieldTranslations): Language[] => [
  'en',
  ...languagesIn(translations).filter((language) => language !== 'en'),
];

/** Without its closing brace: fields that change independently of the game are appended when it is sent. */
const bodyOf = (object: object) => JSON.stringify(object).slice(0, -1);
