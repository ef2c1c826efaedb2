import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';

export const REMOVE_COMMENTS = 'comments.remove';

/** Enqueues the removal: a resource may have any number of comments, and nobody can read them any more. */
export const removeCommentsLater = (app: App, transaction: Transaction, resource: string, id: number): Promise<void> =>
  app.jobs.enqueue(transaction, REMOVE_COMMENTS, { resource, id }, { key: `${resource}/${id}` });
