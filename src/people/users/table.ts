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
  /** For comparisons in lists; see `fold`. */
  username_folded: Generated<string>;
  /** See `confusableSkeleton`. A space where no letter is left, empty where it was not computed yet. */
  username_skeleton: Generated<string>;
  email: string | null;
  /** Replaced by `site_staff`; earlier versions still read it. */
  admin: ColumnType<never, 0, never>;
  date_joined: number;
  date_online: number;
  avatar: string | null;
  timezone: string;
  language: string;
  country: string;
  privacy_options: number;
  monetization_status: number;
  /** YYYY-MM-DD. It can be set once. */
  birth_date: Generated<string | null>;
  /** 1 where an adult has chosen to see mature content. */
  mature_content: Generated<number>;
  /** Since when the account is hidden. */
  date_closed: Generated<number | null>;
  /** Since when sign-in is locked. */
  date_locked: Generated<number | null>;
  /** The account that this one was merged into, and when that was complete. */
  merged_into: Generated<number | null>;
  date_merged: Generated<number | null>;
  /** JSON: the name on each linked portal, denormalised because every list of users needs it. */
  portal_names: Generated<string>;
}

/** Digests of the identities of banned users whose account was deleted. */
export interface RememberedBansTable {
  digest: string;
  /** The deleted account. */
  user_id: number;
  date_added: number;
}
