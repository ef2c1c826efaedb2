import type { Query } from './database.ts';
import type { Migration } from './migrate.ts';

declare module './database.ts' {
  interface Tables {
    facts: { name: string; value: string };
  }
}

export const factsMigrations: Migration[] = [
  {
    name: '2026-11-15-facts',
    up: ({ text }) => [`create table facts (name ${text} primary key, value ${text} not null)`],
  },
  // The live file is no longer part of a mod's documents.
  { name: '2026-11-15-rewrite-mods', up: () => ["delete from facts where name = 'mods.documents.site'"] },
  // Names in addresses are percent-encoded.
  {
    name: '2026-11-16-rewrite-links-clients',
    up: () => ["delete from facts where name in ('games.documents.site', 'mods.documents.site')"],
  },
  // Two bits of `community_options` have moved.
  { name: '2026-11-16-rewrite-games-clients', up: () => ["delete from facts where name = 'games.documents.site'"] },
  // Groups of tags name their platforms.
  { name: '2026-11-16-files-rewrite-games', up: () => ["delete from facts where name = 'games.documents.site'"] },
];

/** Small things that a database knows about itself, such as the address its documents were written for. */
export async function factOf(query: Query, name: string): Promise<string | undefined> {
  return (await query.selectFrom('facts').select('value').where('name', '=', name).executeTakeFirst())?.value;
}

export async function rememberFact(query: Query, name: string, value: string): Promise<void> {
  await query
    .insertInto('facts')
    .values({ name, value })
    .onConflict((key) => key.column('name').doUpdateSet({ value }))
    .execute();
}
