import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { Changes } from './database.ts';
import { ReplicaState } from './postgres-replica.ts';

/** A primary and a replica that are numbers. */
function aReplica(t: TestContext) {
  const at = { written: 1, replayed: 1, isAway: false };
  const changes = new Changes();
  const state = new ReplicaState({
    changes,
    written: async () => String(at.written),
    hasReplayed: async (position) => {
      if (at.isAway) throw new Error('away');
      return at.replayed >= Number(position);
    },
    silent: () => {},
  });
  // The test asks itself.
  state.stop();
  t.after(() => state.stop());
  return { at, changes, state };
}

test('a replica serves reads after it has replayed the own writes, not before', async (t) => {
  const { at, state } = aReplica(t);
  assert.equal(state.isCurrent, false);
  await state.look();
  assert.equal(state.isCurrent, true);
  at.written += 1;
  state.wrote();
  assert.equal(state.isCurrent, false);
  await state.look();
  assert.equal(state.isCurrent, false);
  at.replayed += 1;
  await state.look();
  assert.equal(state.isCurrent, true);
});

test('a write during the question counts as not replayed', async (t) => {
  const { state } = aReplica(t);
  const looking = state.look();
  state.wrote();
  await looking;
  assert.equal(state.isCurrent, false);
});

test('a replica waits for changes of other processes, and for their notifications', async (t) => {
  const { at, changes, state } = aReplica(t);
  await state.look();
  at.written += 1;
  changes.changed('games/1');
  await state.look();
  assert.equal(state.isCurrent, false);
  at.replayed += 1;
  await state.look();
  assert.equal(state.isCurrent, true);
  changes.trustWhile(() => false);
  assert.equal(state.isCurrent, false);
  assert.equal(state.hasOwnWrites, true);
});

test('a replica that is away or behind is not asked, and stands in only with the own writes', async (t) => {
  const { at, state } = aReplica(t);
  await state.look();
  at.isAway = true;
  at.written += 1;
  state.wrote();
  await state.look();
  assert.deepEqual([state.isCurrent, state.hasOwnWrites], [false, false]);
});
