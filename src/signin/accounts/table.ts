declare module '../../platform/database/database.ts' {
  interface Tables {
    email_changes: EmailChangesTable;
  }
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
