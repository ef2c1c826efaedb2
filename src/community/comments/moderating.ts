import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type Commentable, type Commented, findCommentable } from './extensions.ts';
import * as store from './store.ts';

/** Values of `withheld`. */
export const SHOWN = 0;
export const HIDDEN = 1;
export const TAKEN = 3;

/** A comment and its content, both locked. */
export interface LockedComment {
  readonly comment: store.CommentRow;
  readonly on: Commentable;
  readonly thing: Commented;
}

/** Undefined for a deleted comment, whose text is gone. Throws the errors of its content. */
export async function lockComment(
  app: App,
  transaction: Transaction,
  caller: Caller,
  id: number,
): Promise<LockedComment | undefined> {
  const found = await store.byId(transaction, id);
  const on = found && findCommentable(app, found.resource);
  if (!on) return undefined;
  const thing = await on.lock(app, transaction, caller, found.game_id, found.resource_id);
  const comment = await store.rowForChange(transaction, { resource: on.resource, id: thing.id }, id);
  return comment && comment.date_deleted === 0 ? { comment, on, thing } : undefined;
}

/** Hides the comment with its replies from everyone, or shows them again. */
export async function withhold(
  app: App,
  transaction: Transaction,
  { comment, on, thing }: LockedComment,
  withheld: number,
  userId: number,
): Promise<void> {
  const before = await store.countShown(transaction, comment);
  await store.setWithheld(transaction, comment.id, withheld);
  const difference = (await store.countShown(transaction, comment)) - before;
  transaction.changed(`${on.resource}/${thing.id}/comments`);
  if (difference === 0) return;
  await on.onChange(app, transaction, thing, { type: difference > 0 ? 'added' : 'deleted', userId, difference });
}
