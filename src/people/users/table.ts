import type { ColumnType, Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    users: UsersTable;
    remembered_bans: RememberedBansTable;
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
  /** What it looks like; see `confusableSkeleton`. A space where no letter is left of it, empty where it is not known yet. */
  username_skeleton: Generated<string>;
  email: string | null;
  /** Earlier versions read it, and it cannot be left out; `site_staff` has taken its place. */
  admin: ColumnType<never, 0, never>;
  date_joined: number;
  date_online: number;
  avatar: string | null;
  timezone: string;
  language: string;
  country: string;
  privacy_options: number;
  monetization_status: number;
  /** YYYY-MM-DD, as the person told it once. */
  birth_date: Generated<string | null>;
  /** 1 where someone of age wants to see what is for adults. */
  mature_content: Generated<number>;
  /** Since when nobody sees the account. */
  date_closed: Generated<number | null>;
  /** Since when nobody can sign in to it. */
  date_locked: Generated<number | null>;
  /** The account that this one was surrendered to, and when all had moved there. */
  merged_into: Generated<number | null>;
  date_merged: Generated<number | null>;
  /** JSON: the name on each linked portal. Kept here, as every list that shows people needs it. */
  portal_names: Generated<string>;
}

/** What someone who was banned, and whose account is deleted, would sign up with again. */
export interface RememberedBansTable {
  digest: string;
  /** The account that was deleted. */
  user_id: number;
  date_added: number;
}
