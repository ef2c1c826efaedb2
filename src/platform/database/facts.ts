import type { Query } from './database.ts';

declare module './database.ts' {
  interface Tables {
    facts: { name: string; value: string };
  }
}

/** Small values that a database stores about itself, such as the base address of its documents. */
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
