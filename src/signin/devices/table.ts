import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    device_logins: DeviceLoginsTable;
  }
}

/** A device that waits for a person to let it in from another one. */
export interface DeviceLoginsTable {
  id: Generated<number>;
  /** Of the code that the device shows and the person types. */
  code_digest: string;
  /** Of the secret by which the device itself asks; nobody types it. */
  device_digest: string;
  game_id: number;
  /** The registered client, where the device asks over HTTP. */
  client_id: number | null;
  /** Separated by spaces. */
  scopes: string;
  date_added: number;
  date_expires: number;
  /** When the device may ask again. */
  date_next: number;
  /** Who decided, when, and whether the device was let in. */
  user_id: number | null;
  date_decided: number | null;
  allowed: number;
  date_redeemed: number | null;
}
