import type { Insertable } from 'kysely';
import type { Query } from '../../database/database.ts';
import type { TeamMembersTable } from './table.ts';

export const add = (query: Query, member: Insertable<TeamMembersTable>) =>
  query.insertInto('team_members').values(member).execute();

export async function levelOf(query: Query, resource: string, resourceId: number, userId: number): Promise<number> {
  const row = await query
    .selectFrom('team_members')
    .select('level')
    .where('resource', '=', resource)
    .where('resource_id', '=', resourceId)
    .where('user_id', '=', userId)
    .executeTakeFirst();
  return row?.level ?? 0;
}
