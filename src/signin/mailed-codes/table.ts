import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    email_codes: EmailCodesTable;
    code_counters: CodeCountersTable;
    known_places: KnownPlacesTable;
  }
}

export interface EmailCodesTable {
  id: Generated<number>;
  digest: string;
  email: string;
  /** The requesting API key; another key cannot redeem the code. */
  key_id: number;
  /** Where it was requested: a network (API), the digest of a browser’s cookie (pages) or `user/<id>` (merging). */
  ip: string;
  /** The digest of the handle; only API requests have one. */
  handle_digest: Generated<string | null>;
  /** The rate-limit class whose budgets for mails and guesses the code uses. */
  lane: Generated<string>;
  /** Five characters, because shipped clients accept no more. */
  is_short: Generated<number>;
  date_added: number;
  date_expires: number;
  date_redeemed: number | null;
  /** Wrong guesses from the place of the request. */
  attempts: number;
  /** Wrong guesses with the handle. */
  handle_attempts: Generated<number>;
  /** Wrong guesses from other places that named the email address. */
  remote_attempts: Generated<number>;
}

/** A counter with a window that begins at the first use. */
interface CodeCountersTable {
  bucket: string;
  used: number;
  date_ends: number;
}

/** Browsers, devices and networks from which the user signed in by mail. */
interface KnownPlacesTable {
  user_id: number;
  digest: string;
  date_seen: number;
}
