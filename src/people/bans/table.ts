import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    address_bans: AddressBansTable;
  }
}

/** From where nobody is let in. */
export interface AddressBansTable {
  id: Generated<number>;
  /** As `networkText` writes it: an address and how many bits of it count. */
  network: string;
  reason: string;
  /** Who decided it; 0 for whoever runs the service. */
  user_id: number;
  date_added: number;
  /** 0 where it does not end by itself. */
  date_expires: number;
}
