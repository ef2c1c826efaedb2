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
  /** The API key that asked; another one cannot redeem the code. */
  key_id: number;
  /** Where it was requested: a network (API), the digest of a browser's cookie (pages) or `user/<id>` (merging). */
  ip: string;
  /** Of the handle that the request returned; only API requests have one. */
  handle_digest: Generated<string | null>;
  /** Whose budget of mails and wrong guesses the code draws on. */
  lane: Generated<string>;
  /** Five characters, because shipped clients take no more. */
  is_short: Generated<number>;
  date_added: number;
  date_expires: number;
  date_redeemed: number | null;
  /** Wrong guesses from where it was requested. */
  attempts: number;
  /** Wrong guesses with its handle. */
  handle_attempts: Generated<number>;
  /** Wrong guesses from elsewhere that named its email address. */
  remote_attempts: Generated<number>;
}

/** How often something happened since its window began. */
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
