declare module '../../platform/database/database.ts' {
  interface Tables {
    marketplace_locks: MarketplaceLocksTable;
  }
}

/** A user who neither buys nor sells, by a decision of staff or of the service. */
export interface MarketplaceLocksTable {
  user_id: number;
  reason: string;
  /** 0 for the service. */
  decided_by: number;
  date_added: number;
}
