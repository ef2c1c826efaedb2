declare module '../../platform/database/database.ts' {
  interface Tables {
    email_changes: EmailChangesTable;
  }
}

/** A requested change of the email address, until both codes are confirmed. */
export interface EmailChangesTable {
  user_id: number;
  email: string;
  /** Null if the account has no address yet. */
  old_digest: string | null;
  new_digest: string;
  attempts: number;
  date_added: number;
  date_expires: number;
}
