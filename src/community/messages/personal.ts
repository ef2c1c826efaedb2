import type { App } from '../../platform/app.ts';
import type { Transaction } from '../../platform/database/database.ts';
import { cleared } from '../../platform/database/personal.ts';
import { type PersonalData, STEP_ROWS } from '../../platform/personal-data.ts';
import * as store from './store.ts';

async function eachThread(
  transaction: Transaction,
  userId: number,
  change: (threadId: number) => Promise<void>,
): Promise<boolean> {
  const ids = await store.threadsWith(transaction, userId, STEP_ROWS);
  for (const id of ids) {
    await store.lockThread(transaction, id);
    await change(id);
  }
  return ids.length === STEP_ROWS;
}

/** Messages are deleted with their author’s account, and a conversation with its last member. */
const erasing = (_: App, transaction: Transaction, userId: number): Promise<boolean> =>
  eachThread(transaction, userId, async (id) => {
    await store.eraseMember(transaction, id, userId);
    if ((await store.peopleIn(transaction, id)) === 0) await store.removeThread(transaction.query, id);
  });

/** If both accounts were in a conversation, the remaining one has the closer membership and the later read position. */
const moving = (_: App, transaction: Transaction, from: number, to: number): Promise<boolean> =>
  eachThread(transaction, from, (id) => store.moveMember(transaction, id, from, to));

export const personalMessages: PersonalData = {
  columns: [
    {
      table: 'messages',
      column: 'user_id',
      exported: ['id', 'thread_id', 'date_added', 'date_deleted', 'content'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
    {
      table: 'message_members',
      column: 'user_id',
      exported: ['thread_id', 'status', 'date_added', 'unread'],
      whenDeleted: 'step',
      whenMerged: 'step',
    },
    {
      table: 'message_members',
      column: 'invited_by',
      exported: ['thread_id', 'user_id', 'date_added'],
      whenDeleted: cleared({ invited_by: 0 }),
      whenMerged: 'moved',
    },
    {
      table: 'message_threads',
      column: 'started_by',
      exported: ['id', 'subject', 'date_added'],
      whenDeleted: cleared({ subject: '' }),
      whenMerged: 'moved',
    },
    {
      table: 'message_settings',
      column: 'user_id',
      exported: ['accept_from'],
      whenDeleted: 'erased',
      whenMerged: 'moved',
      once: [],
    },
  ],
  erasing,
  moving,
};
