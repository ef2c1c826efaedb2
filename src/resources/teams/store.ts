import type { Insertable } from 'kysely';
import { type Database, type Query, statement } from '../../database/database.ts';
import type { TeamMembersTable } from './table.ts';

export const add = (query: Query, member: Insertable<TeamMembersTable>) =>
  query.insertInto('team_members').values(member).execute();

const LEVEL = statement('select level from team_members where resource = ? and resource_id = ? and user_id = ?');

export async function levelOf(
  db: Pick<Database, 'first'>,
  resource: string,
  resourceId: number,
  userId: number,
): Promise<number> {
  return (await db.first<{ level: number }>(LEVEL, [resource, resourceId, userId]))?.level ?? 0;
}
