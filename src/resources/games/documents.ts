import type { App } from '../../context.ts';
import type { Query } from '../../database/database.ts';
import { factOf, rememberFact } from '../../database/facts.ts';
import { languagesIn, translationsOf } from '../../localisation/translations.ts';
import { toGameBody, toTagOptionLocalized } from './object.ts';
import * as store from './store.ts';

const SITE_FACT = 'games.documents.site';

/** Documents hold addresses: when the site has moved to another domain or port, they are written anew. */
export async function rebuildDocumentsOfMovedSite(app: App): Promise<void> {
  if ((await factOf(app.db.query, SITE_FACT)) === app.addresses.site) return;
  await app.db.write(async (transaction) => {
    for (const id of await store.allIds(transaction.query))
      await rewriteDocuments(app, transaction.query, (await store.rowIn(transaction.query, id))!);
    await rememberFact(transaction.query, SITE_FACT, app.addresses.site);
    transaction.changed('games');
  });
}

/** Writes the game's documents anew: one in English, one in each language that has a translation. */
export async function rewriteDocuments(app: App, query: Query, game: store.GameRow): Promise<void> {
  const translations = await translationsOf(query, 'games', game.id);
  const platforms = await store.platformsOf(query, game.id);
  const groups = await store.tagGroupsOf(query, game.id);
  const languages = ['en' as const, ...languagesIn(translations).filter((language) => language !== 'en')];
  const documents = languages.map((language) => ({
    game_id: game.id,
    language,
    body: JSON.stringify(toGameBody(app, game, platforms, translations, language)).slice(0, -1),
    tags: JSON.stringify(
      groups.filter((group) => group.hidden === 0).map((group) => toTagOptionLocalized(group, translations, language)),
    ),
    tags_with_hidden: JSON.stringify(groups.map((group) => toTagOptionLocalized(group, translations, language))),
  }));
  await store.putDocuments(query, game.id, documents);
}
