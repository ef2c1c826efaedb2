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

/** A user’s account on a portal. */
export interface PortalAccountsTable {
  id: Generated<number>;
  user_id: number;
  portal: string;
  portal_id: string;
  /** The game to which the portal’s id is specific; 0 if it is the same in all games. */
  game_id: number;
  display_name: string;
  avatar: string;
  date_added: number;
  date_used: number;
  /** 1 if the studio has requested that the user can buy and sell. */
  monetization_account: Generated<number>;
}

/** The settings of a game for a portal. */
export interface PortalSettingsTable {
  game_id: number;
  portal: string;
  /** JSON of the public fields. */
  fields: string;
  /** Encrypted JSON of the secrets. */
  secrets: string;
  date_updated: number;
}

/** Tickets and tokens that were used to sign in. Each works once. */
export interface PortalTicketsTable {
  digest: string;
  ip: string;
  date_added: number;
  date_expires: number;
}

/** A claimed email address, until it is confirmed with the mailed code. */
export interface EmailConfirmationsTable {
  user_id: number;
  email: string;
  digest: string;
  attempts: number;
  date_expires: number;
}

/** Web sign-ins in progress: at the portal, or before the user agreed to the terms. */
export interface PortalJourneysTable {
  /** The digest of the state. */
  digest: string;
  /** The digest of the browser’s cookie. */
  visit: string;
  /** Encrypted JSON of the state that the return needs. */
  sealed: string;
  date_expires: number;
}
