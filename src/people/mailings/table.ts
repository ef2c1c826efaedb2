declare module '../../platform/database/database.ts' {
  interface Tables {
    email_opt_outs: EmailOptOutsTable;
  }
}

/** Addresses that want no mails they did not ask for. Many have no account, so only a digest is kept. */
export interface EmailOptOutsTable {
  address_digest: string;
  date_added: number;
}
