import type { Generated } from 'kysely';
import type { AccountKind } from './accounts.ts';

declare module '../../platform/database/database.ts' {
  interface Tables {
    ledger_accounts: LedgerAccountsTable;
    ledger_transactions: LedgerTransactionsTable;
    ledger_entries: LedgerEntriesTable;
    ledger_heads: LedgerHeadsTable;
    ledger_checks: LedgerChecksTable;
  }
}

/** An account and the balance after its last entry. */
export interface LedgerAccountsTable {
  id: Generated<number>;
  kind: AccountKind;
  /** 0 unless a user owns it. */
  user_id: number;
  provider: string;
  game_id: number;
  currency: string;
  balance: number;
  /** The number of entries, so that a removed one is detected. */
  entries: number;
  date_added: number;
}

/** A set of entries that sums to zero per currency, and its cause. Rows are never changed or removed. */
export interface LedgerTransactionsTable {
  id: Generated<number>;
  game_id: number;
  /** The position in the chain of the game, without gaps from 1. */
  sequence: number;
  kind: string;
  operation: string;
  /** The idempotency key of the request. */
  request_key: string;
  provider: string;
  /** The id of the payment at its provider. */
  provider_reference: string;
  /** The acting user; 0 for the service and commands of the operator. */
  user_id: number;
  /** The transaction that this one takes back; 0 for none. */
  reverses_id: number;
  date_added: number;
  previous: string;
  /** Covers all other columns and the entries. */
  hash: string;
}

/** Rows are never changed or removed. */
export interface LedgerEntriesTable {
  id: Generated<number>;
  transaction_id: number;
  account_id: number;
  amount: number;
  balance_after: number;
}

/** The end of a game's chain. Every posting in the game locks this row until its commit. */
export interface LedgerHeadsTable {
  game_id: number;
  sequence: number;
  hash: string;
}

/** A verification of all books, which a job runs. */
export interface LedgerChecksTable {
  id: Generated<number>;
  /** The administrator who started it; 0 if the account has ended. */
  user_id: number;
  state: 'waiting' | 'right' | 'wrong';
  transactions: number;
  entries: number;
  accounts: number;
  /** A JSON array of sentences. */
  problems: string;
  date_added: number;
  /** 0 until it has ended. */
  date_ended: number;
}
