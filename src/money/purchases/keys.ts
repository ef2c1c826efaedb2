import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { takeAdvisoryLock } from '../../platform/database/locks.ts';
import { ApiError } from '../../platform/errors/catalogue.ts';
import * as store from './store.ts';

const DAY = 86_400;

/** A request with an idempotency key. */
export interface KeyedRequest {
  readonly name: store.RequestName;
  /** A digest of what was sent. */
  readonly digest: string;
  /** The mod that the response is about: its refund releases the key. */
  readonly modId: number;
}

const taken = (): ApiError =>
  new ApiError('MONETIZATION_REQUEST_ERROR', { fields: [{ field: 'idempotent_key', rule: 'taken' }] });

interface Stored {
  readonly digest: string;
  readonly response: string;
}

/** The first response, for a repeated request. */
export function sameRequest(first: Stored, { digest }: KeyedRequest): string {
  if (first.digest !== digest) throw taken();
  return first.response;
}

/**
 * Makes and stores the response to a request, or returns the one that is stored. A second request with the key waits
 * for the transaction of the first.
 */
export async function answerOnce(
  app: App,
  transaction: Transaction,
  request: KeyedRequest,
  make: () => Promise<string>,
): Promise<string> {
  const first = await takeKey(app, transaction, request);
  if (first) return sameRequest(first, request);
  const response = await make();
  await keepAnswer(app, transaction, request, response);
  return response;
}

/**
 * What is stored under the key. If nothing is, the key belongs to this transaction, which ends with `keepAnswer` or is
 * rolled back. A lock of the name is enough to wait for each other, so the row is written once, with the response.
 */
export async function takeKey(app: App, transaction: Transaction, { name }: KeyedRequest): Promise<Stored | undefined> {
  const { user_id, game_id, operation, request_key } = name;
  await takeAdvisoryLock(transaction, `keys/${user_id}/${game_id}/${operation}/${request_key}`);
  return store.answered(transaction, name, app.clock.now() - DAY);
}

export async function keepAnswer(
  app: App,
  transaction: Transaction,
  { name, digest, modId }: KeyedRequest,
  response: string,
): Promise<void> {
  const now = app.clock.now();
  await store.keep(transaction, { ...name, digest, response, mod_id: modId, date_added: now }, now - DAY);
}

/** The stored response, for requests that take several steps. */
export async function findAnswer(app: App, request: KeyedRequest): Promise<string | undefined> {
  const first = await store.answered(app.db, request.name, app.clock.now() - DAY);
  return first && sameRequest(first, request);
}

/** Keys may be used again after a day. */
export const forgetKeys = (app: App): Promise<void> => store.forgetUntil(app.db, app.clock.now() - DAY);
