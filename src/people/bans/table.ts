import type { Generated } from 'kysely';

declare module '../../platform/database/database.ts' {
  interface Tables {
    address_bans: AddressBansTable;
  }
}

/** Networks whose requests are refused. */
export interface AddressBansTable {
  id: Generated<number>;
  /** In CIDR notation, as `networkText` writes it. */
  network: string;
  reason: string;
  /** The deciding administrator; 0 for the operator. */
  user_id: number;
  date_added: number;
  /** 0 for no end. */
  date_expires: number;
}
