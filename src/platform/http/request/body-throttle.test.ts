import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TransferScheduler } from '../transfer-scheduler.ts';
import { BodyThrottle } from './body-throttle.ts';

const RECORD_BYTES = 16 * 1024;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Consumes chunks of several complete bodies, and returns for each event-loop tick whose chunks were admitted. */
async function turnsOf(bodies: readonly string[], pieces: number, bytes: number): Promise<string[]> {
  const intake = new BodyThrottle(new TransferScheduler());
  let letIn = '';
  let open = bodies.length;
  const receive = (name: string, left: number): void => {
    letIn += name;
    if (left === 1) open -= 1;
    else if (!intake.mustPause(bytes, () => receive(name, left - 1))) receive(name, left - 1);
  };
  for (const name of bodies) receive(name, pieces);
  const turns = [letIn];
  while (open > 0) {
    letIn = '';
    await nextTurn();
    turns.push(letIn);
  }
  return turns;
}

test('a tick admits two TLS records of all bodies together, and the bodies take turns', async () => {
  assert.deepEqual(await turnsOf(['a', 'b', 'c'], 4, RECORD_BYTES), ['aabc', 'aa', 'bb', 'cc', 'b', 'c']);
});

test('a chunk that exceeds the limit of a tick is admitted alone', async () => {
  assert.deepEqual(await turnsOf(['a', 'b'], 2, 10 * RECORD_BYTES), ['ab', 'a', 'b']);
});
