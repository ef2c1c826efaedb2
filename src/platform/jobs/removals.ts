import { setTimeout as pause } from 'node:timers/promises';
import { type Database, statement, type Transaction } from '../database/database.ts';
import { ApiError } from '../errors/catalogue.ts';

const RUNNING = statement(`select id from jobs where kind = ? and key = ? and state = 'running'`);

/** A job is removing what a transaction wants to reference, and could remove it after the transaction has looked. */
class BeingRemoved extends Error {
  override readonly name = 'BeingRemoved';
}

/**
 * Lets the transaction reference stored bytes that a job of this kind removes. It has scheduled the job for later before,
 * so that none starts until the transaction has ended.
 */
export async function requireNoRemoval(transaction: Transaction, kind: string, key: string): Promise<void> {
  if (await transaction.first(RUNNING, [kind, key])) throw new BeingRemoved(`${key} is being removed`);
}

const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 250;
/** About ten seconds. A removal takes milliseconds unless its process has died. */
const ATTEMPTS_MAX = 45;

/** Runs a transaction as soon as no removal of what it references is running. */
export async function writeAfterRemoval<T>(
  { db }: { readonly db: Database },
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  for (let attempt = 1, ms = FIRST_PAUSE_MS; ; attempt += 1, ms = Math.min(ms * 2, LONGEST_PAUSE_MS)) {
    try {
      return await db.write(work);
    } catch (error) {
      if (!(error instanceof BeingRemoved)) throw error;
      if (attempt === ATTEMPTS_MAX) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE', { cause: error });
    }
    await pause(ms);
  }
}
