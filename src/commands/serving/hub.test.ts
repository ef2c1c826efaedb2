import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type Downward, SupervisedSiblings, type Upward } from '../../platform/runtime/siblings.ts';
import { type Member, SiblingHub } from './hub.ts';

const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** Processes that are connected through a hub; messages arrive in later turns of the event loop. */
function connected(t: TestContext, count: number) {
  // However slow the machine is, nobody stops waiting for a process.
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const hub = new SiblingHub<number>(sum);
  const processes = Array.from({ length: count }, () => {
    const applied: string[] = [];
    const held: Downward[] = [];
    const state = { isBlocked: false, count: 0 };
    const siblings: SupervisedSiblings = new SupervisedSiblings(count, (message: Upward) =>
      setImmediate(() => hub.receive(member, message)),
    );
    const member: Member = {
      send: (message) =>
        setImmediate(() => {
          if (state.isBlocked) held.push(message);
          else siblings.receive(message);
        }),
    };
    siblings.apply('production', (scope) => applied.push(scope));
    siblings.reportWith(() => state.count);
    hub.join(member);
    const unblock = () => {
      state.isBlocked = false;
      for (const message of held.splice(0)) siblings.receive(message);
    };
    return { siblings, member, applied, state, unblock };
  });
  return { hub, processes };
}

test('a change is announced when every other process has applied it', async (t) => {
  const [one, two, three] = connected(t, 3).processes;
  three!.state.isBlocked = true;
  let isAnnounced = false;
  const announcing = one!.siblings.announce('production', ['games/1']).then(() => (isAnnounced = true));
  for (let turns = 0; turns < 10; turns += 1) await new Promise((turn) => setImmediate(turn));
  assert.deepEqual([isAnnounced, two!.applied], [false, ['games/1']]);
  three!.unblock();
  await announcing;
  assert.deepEqual([one!.applied, three!.applied], [[], ['games/1']]);
});

test('changes that are made while others are announced are announced together', async (t) => {
  const { processes } = connected(t, 2);
  const [one, two] = processes;
  const first = one!.siblings.announce('production', ['games/1']);
  await Promise.all([first, ...[2, 3, 2].map((id) => one!.siblings.announce('production', [`games/${id}`]))]);
  assert.deepEqual(two!.applied, ['games/1', 'games/2', 'games/3']);
});

test('a process that ends holds up no announcement', async (t) => {
  const { hub, processes } = connected(t, 3);
  const [one, , three] = processes;
  three!.state.isBlocked = true;
  const announcing = one!.siblings.announce('production', ['games/1']);
  setImmediate(() => setImmediate(() => hub.leave(three!.member)));
  await announcing;
});

test('counts of all processes are collected, and stay when a process ends', async (t) => {
  const { hub, processes } = connected(t, 3);
  const [one, two, three] = processes;
  for (const [i, each] of processes.entries()) each.state.count = 10 ** i;
  const total = async () => sum((await one!.siblings.collect()) as number[]);
  assert.equal(await total(), 111);
  // Killed: the last known count stays.
  hub.leave(two!.member);
  assert.equal(await total(), 111);
  // Drained: it reports once more before it ends.
  three!.state.count = 500;
  three!.siblings.leave();
  await new Promise((turn) => setImmediate(turn));
  hub.leave(three!.member);
  assert.equal(await total(), 511);
});
