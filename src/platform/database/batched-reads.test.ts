// Runs on one database: it needs none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BatchedReads } from './batched-reads.ts';
import { type Database, statement } from './database.ts';

const STATEMENT = statement('select id from things where id in (?)');
const reading = { variant: '', statement: STATEMENT, valuesFor: (ids: readonly number[]) => ids };

interface Sent {
  readonly ids: readonly number[];
  answer(): void;
  fail(): void;
}

/** A database that answers when it is told to. */
function slowDatabase() {
  const sent: Sent[] = [];
  const all = (_: unknown, ids: readonly number[]) =>
    new Promise((resolve, reject) => {
      const answer = () => resolve(ids.map((id) => ({ id })));
      sent.push({ ids, answer, fail: () => reject(new Error('no connection')) });
    });
  return { sent, db: { all } as unknown as Database };
}

test('reads of one turn share a statement, those that come while it is under way share the next', async () => {
  const { sent, db } = slowDatabase();
  const reads = new BatchedReads<{ id: number }>();
  const first = [1, 2].map((id) => reads.read(db, id, reading));
  await setImmediate();
  const second = [3, 4, 3].map((id) => reads.read(db, id, reading));
  await setImmediate();
  assert.deepEqual(
    sent.map(({ ids }) => ids),
    [[1, 2]],
  );
  sent[0]!.answer();
  assert.deepEqual(await Promise.all(first), [{ id: 1 }, { id: 2 }]);
  await setImmediate();
  assert.deepEqual(sent[1]!.ids, [3, 4]);
  sent[1]!.answer();
  assert.deepEqual(await Promise.all(second), [{ id: 3 }, { id: 4 }, { id: 3 }]);
});

test('a statement that never returns does not keep the next ones from being sent', async () => {
  const { sent, db } = slowDatabase();
  const reads = new BatchedReads<{ id: number }>();
  void reads.read(db, 1, reading);
  await setImmediate();
  const later = reads.read(db, 2, reading);
  while (sent.length < 2) await setImmediate();
  sent[1]!.answer();
  assert.deepEqual(await later, { id: 2 });
});

test('a statement that fails fails its own reads alone', async () => {
  const { sent, db } = slowDatabase();
  const reads = new BatchedReads<{ id: number }>();
  const failing = assert.rejects(reads.read(db, 1, reading), /no connection/);
  await setImmediate();
  const next = reads.read(db, 2, reading);
  sent[0]!.fail();
  await failing;
  while (sent.length < 2) await setImmediate();
  sent[1]!.answer();
  assert.deepEqual(await next, { id: 2 });
});
