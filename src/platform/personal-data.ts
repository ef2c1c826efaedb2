import type { App } from './app.ts';
import type { Tables, Transaction } from './database/database.ts';
import type { PersonalColumn } from './database/personal.ts';
import { extensionPoint } from './extensions.ts';

/** An account as it was in the moment before it ended. */
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
 * What a resource stores about people. Its manifest declares it, so that accounts are deleted, merged and exported
 * without naming the resource.
 */
export interface PersonalData {
  readonly columns: readonly PersonalColumn[];
  /** Columns that tell something of a person in rows that name no account, and why that is well. */
  readonly traces?: readonly Trace[];
  /** In the very transaction that ends the account; `to` is the one that takes its place, if it was merged. */
  readonly ending?: (
    app: App,
    transaction: Transaction,
    account: EndingAccount,
    to?: EndingAccount,
  ) => void | Promise<void>;
  /** By a job, before rows are erased: true as long as there is more to do. Each step may run again. */
  readonly erasing?: (app: App, transaction: Transaction, userId: number) => Promise<boolean>;
  /** The same before rows are moved. */
  readonly moving?: (app: App, transaction: Transaction, from: number, to: number) => Promise<boolean>;
  /** After rows were erased, or moved to this account, in the same transaction. */
  readonly afterwards?: (transaction: Transaction, userId: number) => void | Promise<void>;
}

/** What all resources declare. */
export const personalDataOf = extensionPoint<PersonalData>('personal data');

/** How many rows a step takes, so that others who write do not wait for long. */
export const STEP_ROWS = 200;

/** A step that is one whole. */
export const inOneStep =
  <A extends unknown[]>(work: (...values: A) => unknown) =>
  async (...values: A): Promise<boolean> => {
    await work(...values);
    return false;
  };
