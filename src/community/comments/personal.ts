import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { notExported, retained } from '../../platform/database/personal.ts';
import { type PersonalData, STEP_ROWS } from '../../platform/personal-data.ts';
import { commentsScope } from './comments.ts';
import * as store from './store.ts';

/** Updates the comment’s karma to the sum of the remaining votes. */
async function takeBack(transaction: Transaction, { comment_id, user_id }: store.VoteRow): Promise<void> {
  const comment = await store.lockComment(transaction, comment_id);
  await store.removeVote(transaction, comment_id, user_id);
  if (comment) transaction.changed(commentsScope({ resource: comment.resource, id: comment.resource_id }));
}

async function erasing(_: App, transaction: Transaction, userId: number): Promise<boolean> {
  const votes = await store.votesOf(transaction, userId, STEP_ROWS);
  for (const vote of votes) await takeBack(transaction, vote);
  return votes.length === STEP_ROWS;
}

/** Votes of one account on the other’s comments, and second votes, are dropped. */
async function moving(_: App, transaction: Transaction, from: number, to: number): Promise<boolean> {
  const between = await store.votesBetween(transaction, from, to, STEP_ROWS);
  for (const vote of between) await takeBack(transaction, vote);
  if (between.length === STEP_ROWS) return true;
  const votes = await store.votesOf(transaction, from, STEP_ROWS);
  for (const vote of votes)
    if ((await store.voteOf(transaction, vote.comment_id, to)) !== 0) await takeBack(transaction, vote);
    else await store.moveVote(transaction, vote, to);
  return votes.length === STEP_ROWS;
}

export const personalComments: PersonalData = {
  columns: [
    {
      table: 'comments',
      column: 'submitted_by',
      exported: ['id', 'resource', 'resource_id', 'game_id', 'reply_id', 'date_added', 'karma', 'content'],
      whenDeleted: retained('others have replied; users can delete their comments before they delete the account'),
      whenMerged: 'moved',
    },
    {
      table: 'comments',
      column: 'deleted_by',
      exported: notExported('a deleted comment has no content'),
      whenDeleted: retained('it is a decision of the team or the author'),
      whenMerged: 'moved',
    },
    {
      table: 'comment_votes',
      column: 'user_id',
      exported: ['comment_id', 'karma'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
    {
      table: 'comment_mentions',
      column: 'user_id',
      exported: ['comment_id'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: ['comment_id'],
    },
  ],
  erasing,
  moving,
};
