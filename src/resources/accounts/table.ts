import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    email_codes: EmailCodesTable;
    email_changes: EmailChangesTable;
  }
}

export interface EmailCodesTable {
  id: Generated<number>;
  digest: string;
  email: string;
  /** The API key that asked; another one cannot redeem the code. */
  key_id: number;
  /** Where it was asked from: wrong guesses from there count against it. */
  ip: string;
  date_added: number;
  date_expires: number;
  date_redeemed: number | null;
  attempts: number;
}

/** Another address that a person wants to have, until codes from both have come back. */
export interface EmailChangesTable {
  user_id: number;
  email: string;
  /** None where the account has no address yet. */
  old_digest: string | null;
  new_digest: string;
  attempts: number;
  date_added: number;
  date_expires: number;
}
