import type { Caller } from '../../platform/access/caller.ts';
import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { type Commentable, type Commented, findCommentable } from './extensions.ts';
import * as store from './store.ts';

/** `withheld`. */
export const SHOWN = 0;
export const HIDDEN = 1;
export const TAKEN = 3;

/** A comment and what it is on, both held: others who change them wait from here on. */
export interface HeldComment {
  readonly comment: store.CommentRow;
  readonly on: Commentable;
  readonly thing: Commented;
}

/** Nothing for one that was deleted, whose text is gone. Refused as what it is on is. */
export async function holdComment(
  app: App,
  transaction: Transaction,
  caller: Caller,
  id: number,
): Promise<HeldComment | undefined> {
  const found = await store.byId(transaction, id);
  const on = found && findCommentable(app, found.resource);
  if (!on) return undefined;
  const thing = await on.lock(app, transaction, caller, found.game_id, found.resource_id);
  const comment = await store.rowForChange(transaction, { resource: on.resource, id: thing.id }, id);
  return comment && comment.date_deleted === 0 ? { comment, on, thing } : undefined;
}

/** From now on nobody sees the comment and what is below it, or everyone does again. */
export async function withhold(
  app: App,
  transaction: Transaction,
  { comment, on, thing }: HeldComment,
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
