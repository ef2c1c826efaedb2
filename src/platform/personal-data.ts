import type { App } from './app.ts';
import type { Tables, Transaction } from './database/database.ts';
import type { PersonalColumn } from './database/personal.ts';
import { extensionPoint } from './extensions.ts';

/** An account immediately before it ended. */
export interface EndingAccount {
  readonly id: number;
  readonly email: string | null;
}

interface Trace {
  readonly table: keyof Tables;
  readonly column: string;
  readonly because: string;
}

/**
 * What a resource stores about users. Its manifest declares it, so that accounts are deleted, merged and exported
 * without naming the resource.
 */
export interface PersonalData {
  readonly columns: readonly PersonalColumn[];
  /** Columns with information about a user in rows without an account, and why they may stay. */
  readonly traces?: readonly Trace[];
  /** Runs in the transaction that ends the account. `to` is the surviving account of a merge. */
  readonly ending?: (
    app: App,
    transaction: Transaction,
    account: EndingAccount,
    to?: EndingAccount,
  ) => void | Promise<void>;
  /** Runs in a job before rows are erased. Returns true while there is more to do; each step may run again. */
  readonly erasing?: (app: App, transaction: Transaction, userId: number) => Promise<boolean>;
  /** The same before rows are moved. */
  readonly moving?: (app: App, transaction: Transaction, from: number, to: number) => Promise<boolean>;
  /** Runs after rows were erased or moved to this account, in the same transaction. */
  readonly afterwards?: (transaction: Transaction, userId: number) => void | Promise<void>;
}

/** The declarations of all resources. */
export const personalDataOf = extensionPoint<PersonalData>('personal data');

/** The number of rows per step, which is small so that other writers do not wait long. */
export const STEP_ROWS = 200;

/** Wraps work that is complete after one step. */
export const inOneStep =
  <A extends unknown[]>(work: (...values: A) => unknown) =>
  async (...values: A): Promise<boolean> => {
    await work(...values);
    return false;
  };
