// Runs on one database: it needs none.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { BatchedReads } from './batched-reads.ts';
import type { Database } from './database.ts';

type Thing = { readonly id: number };

interface Sent {
  readonly ids: readonly number[];
  answer(): void;
  fail(): void;
}

/** A database that answers when it is told to. */
function slowDatabase() {
  const sent: Sent[] = [];
  const rowsOf = (ids: readonly number[]) =>
    new Promise<Map<number, Thing>>((resolve, reject) => {
      const answer = () => resolve(new Map(ids.map((id) => [id, { id }])));
      sent.push({ ids, answer, fail: () => reject(new Error('no connection')) });
    });
  return { sent, db: {} as Database, reading: { variant: '', rowsOf } };
}

test('reads of one turn share a statement, those that come while it is under way share the next', async () => {
  const { sent, db, reading } = slowDatabase();
  const reads = new BatchedReads<Thing>();
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
  const { sent, db, reading } = slowDatabase();
  const reads = new BatchedReads<Thing>();
  void reads.read(db, 1, reading);
  await setImmediate();
  const later = reads.read(db, 2, reading);
  while (sent.length < 2) await setImmediate();
  sent[1]!.answer();
  assert.deepEqual(await later, { id: 2 });
});

test('a statement that fails fails its own reads alone', async () => {
  const { sent, db, reading } = slowDatabase();
  const reads = new BatchedReads<Thing>();
  const failing = assert.rejects(reads.read(db, 1, reading), /no connection/);
  await setImmediate();
  const next = reads.read(db, 2, reading);
  sent[0]!.fail();
  await failing;
  while (sent.length < 2) await setImmediate();
  sent[1]!.answer();
  assert.deepEqual(await next, { id: 2 });
});
