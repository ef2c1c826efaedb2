import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    team_members: TeamMembersTable;
    team_invites: TeamInvitesTable;
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

/**
 * An invitation of an email address. Whether the address has an account is not stored, so that nobody can find it
 * out. Ids are above those of all members, because the API shows both in one list.
 */
export interface TeamInvitesTable {
  id: Generated<number>;
  resource: string;
  resource_id: number;
  email: string;
  level: number;
  position: string;
  invited_by: number;
  date_added: number;
  /** When it was accepted, declined or withdrawn; null while it is open. */
  date_actioned: number | null;
}
