import type { Generated } from 'kysely';

declare module '../../database/database.ts' {
  interface Tables {
    email_codes: EmailCodesTable;
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
