declare module '../../platform/database/database.ts' {
  interface Tables {
    spending: SpendingTable;
    spending_refusals: SpendingRefusalsTable;
    payment_attempts: PaymentAttemptsTable;
    clawbacks: ClawbacksTable;
  }
}

/** A purchase of the last day, in games that limit them. */
export interface SpendingTable {
  /** The purchase. */
  purchase_id: number;
  user_id: number;
  game_id: number;
  /** A digest of the buyer's address; empty where a job handed the mod over. */
  address: string;
  tokens: number;
  date_added: number;
}

/** A payment that began within the last hour, in games that limit them by address. */
export interface PaymentAttemptsTable {
  payment_id: number;
  user_id: number;
  game_id: number;
  /** A digest of the buyer's address. */
  address: string;
  date_added: number;
}

/** Refusals that the audit log has, at most one per user, game, guard and hour. */
export interface SpendingRefusalsTable {
  user_id: number;
  game_id: number;
  guard: string;
  date_hour: number;
}

/** Tokens that a bank, a store or the studio's backend took back within the last days. */
export interface ClawbacksTable {
  transaction_id: number;
  user_id: number;
  game_id: number;
  tokens: number;
  date_added: number;
}
