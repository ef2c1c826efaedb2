import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    portal_accounts: PortalAccountsTable;
    portal_settings: PortalSettingsTable;
    portal_tickets: PortalTicketsTable;
    email_confirmations: EmailConfirmationsTable;
    portal_journeys: PortalJourneysTable;
  }
}

/** Who someone is on a portal. */
export interface PortalAccountsTable {
  id: Generated<number>;
  user_id: number;
  portal: string;
  portal_id: string;
  /** The game for which the portal made up the id; 0 where it is the same in all games. */
  game_id: number;
  display_name: string;
  avatar: string;
  date_added: number;
  date_used: number;
  /** 1 where the studio has asked for the person to be able to buy and sell. */
  monetization_account: Generated<number>;
}

/** What a game has agreed upon with a platform. */
export interface PortalSettingsTable {
  game_id: number;
  portal: string;
  /** JSON of what may be shown. */
  fields: string;
  /** Encrypted JSON of what may not. */
  secrets: string;
  date_updated: number;
}

/** Tickets and tokens with which someone has signed in already: each is good once. */
export interface PortalTicketsTable {
  digest: string;
  ip: string;
  date_added: number;
  date_expires: number;
}

/** An address that someone says is theirs, until the code from the mail shows it. */
export interface EmailConfirmationsTable {
  user_id: number;
  email: string;
  digest: string;
  attempts: number;
  date_expires: number;
}

/** Browsers that were sent to a portal, or whose person has yet to agree to the terms. */
export interface PortalJourneysTable {
  /** Of what the browser brings back. */
  digest: string;
  /** The digest of the browser. */
  visit: string;
  /** Encrypted JSON of what is needed when it is back. */
  sealed: string;
  date_expires: number;
}
