import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    team_members: TeamMembersTable;
  }
}

/** `resource` is `games` or `mods`. `level`: 1 moderator, 4 manager, 8 administrator. */
export interface TeamMembersTable {
  id: Generated<number>;
  resource: string;
  resource_id: number;
  user_id: number;
  level: number;
  position: string;
  date_added: number;
}
