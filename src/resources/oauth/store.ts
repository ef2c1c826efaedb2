import type { Insertable } from 'kysely';
import type { Query } from '../../database/database.ts';
import type { OauthClientsTable } from './table.ts';

export async function add(query: Query, row: Insertable<OauthClientsTable>): Promise<number> {
  return (await query.insertInto('oauth_clients').values(row).returning('id').executeTakeFirstOrThrow()).id;
}
