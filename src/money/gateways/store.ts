import { type Database, statement, type Transaction } from '../../platform/database/database.ts';
import type { SimulatedPaymentsTable } from './table.ts';

export type SimulatedPayment = SimulatedPaymentsTable;

const BY_REFERENCE = statement('select * from simulated_payments where reference = ?');
export const byReference = (reader: Pick<Database, 'first'>, reference: string) =>
  reader.first<SimulatedPayment>(BY_REFERENCE, [reference]);

const ADD =
  statement(`insert into simulated_payments (reference, amount, currency, description, outcome, date_due, date_added)
  values (?, ?, ?, ?, 'open', 0, ?) on conflict (reference) do nothing`);
export const add = (transaction: Transaction, row: Omit<SimulatedPayment, 'outcome' | 'date_due'>) =>
  transaction.run(ADD, [row.reference, row.amount, row.currency, row.description, row.date_added]);

const DECIDE = statement(
  "update simulated_payments set outcome = ?, date_due = ? where reference = ? and outcome = 'open' returning reference",
);
/** False when the buyer has chosen before. */
export const decide = async (transaction: Transaction, reference: string, outcome: 'paid' | 'failed', due: number) =>
  (await transaction.first(DECIDE, [outcome, due, reference])) !== undefined;

const REFUND = statement("update simulated_payments set outcome = 'refunded' where reference = ? and outcome = 'paid'");
export const refund = (transaction: Transaction, reference: string) => transaction.run(REFUND, [reference]);

const STRIPE_OBJECT = statement('select stripe_object from stripe_payments where reference = ?');
export const stripeObjectOf = async (reader: Pick<Database, 'first'>, reference: string) =>
  (await reader.first<{ stripe_object: string }>(STRIPE_OBJECT, [reference]))?.stripe_object;

const ADD_STRIPE = statement(`insert into stripe_payments (reference, stripe_object, date_added)
  values (?, ?, ?) on conflict (reference) do nothing`);
export const addStripeObject = (transaction: Transaction, reference: string, object: string, now: number) =>
  transaction.run(ADD_STRIPE, [reference, object, now]);
