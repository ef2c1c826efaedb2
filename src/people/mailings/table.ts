declare module '../../platform/database/database.ts' {
  interface Tables {
    email_opt_outs: EmailOptOutsTable;
  }
}

/** Addresses that opted out of unsolicited mails, as digests because many have no account. */
export interface EmailOptOutsTable {
  address_digest: string;
  date_added: number;
}
