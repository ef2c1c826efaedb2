import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';

// What others ask of comments when what was commented on leaves, so this file knows none of them.

export const REMOVE_COMMENTS = 'comments.remove';

/** There may be many, and nobody reaches them any more: a job removes them. */
export const leaveCommentsToJob = async (app: App, transaction: Transaction, resource: string, id: number) =>
  void (await app.jobs.enqueue(transaction, REMOVE_COMMENTS, { resource, id }, { key: `${resource}/${id}` }));
