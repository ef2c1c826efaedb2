import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    device_logins: DeviceLoginsTable;
  }
}

/** The login of a device that waits for a decision in a browser. */
export interface DeviceLoginsTable {
  id: Generated<number>;
  /** The digest of the code that the device shows and the user types. */
  code_digest: string;
  /** The digest of the secret that the device polls with. */
  device_digest: string;
  game_id: number;
  /** The registered client, if the device polls over HTTP. */
  client_id: number | null;
  /** Separated by spaces. */
  scopes: string;
  date_added: number;
  date_expires: number;
  /** When the device may poll again. */
  date_next: number;
  /** Who decided, when, and how. */
  user_id: number | null;
  date_decided: number | null;
  allowed: number;
  date_redeemed: number | null;
}
