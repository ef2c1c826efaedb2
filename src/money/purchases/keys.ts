import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
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

const sameRequest = (first: { digest: string; response: string }, { digest }: KeyedRequest): string => {
  if (first.digest !== digest) throw taken();
  return first.response;
};

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
  const now = app.clock.now();
  const claimed = { ...request.name, digest: request.digest, mod_id: request.modId, date_added: now };
  if (!(await store.claim(transaction, claimed, now - DAY)))
    return sameRequest((await store.answered(transaction, request.name, now - DAY))!, request);
  const response = await make();
  await store.answer(transaction, request.name, response);
  return response;
}

/** The stored response, for requests that take several steps. */
export async function findAnswer(app: App, request: KeyedRequest): Promise<string | undefined> {
  const first = await store.answered(app.db, request.name, app.clock.now() - DAY);
  return first && sameRequest(first, request);
}

/** Keys may be used again after a day. */
export const forgetKeys = (app: App): Promise<void> => store.forgetUntil(app.db, app.clock.now() - DAY);
