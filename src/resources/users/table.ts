import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    users: UsersTable;
  }
}

/** `status`: 0 not confirmed, 1 active, 3 deleted, 4 banned. */
export interface UsersTable {
  id: Generated<number>;
  status: number;
  name_id: string;
  username: string;
  /** As lists compare it; see `fold`. */
  username_folded: Generated<string>;
  email: string | null;
  admin: number;
  date_joined: number;
  date_online: number;
  avatar: string | null;
  timezone: string;
  language: string;
  country: string;
  privacy_options: number;
  monetization_status: number;
}
