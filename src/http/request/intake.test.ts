import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Intake } from './intake.ts';

const RECORD_BYTES = 16 * 1024;
const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

/** Takes pieces of several bodies, and tells for each turn of the event loop whose pieces it let in. */
async function turnsOf(bodies: readonly string[], pieces: number, bytes: number): Promise<string[]> {
  const intake = new Intake();
  let letIn = '';
  let open = bodies.length;
  const receive = async (name: string) => {
    for (let piece = 0; piece < pieces; piece += 1) {
      await intake.turn(bytes);
      letIn += name;
    }
    open -= 1;
  };
  for (const name of bodies) void receive(name);
  const turns: string[] = [];
  while (open > 0) {
    await nextTurn();
    turns.push(letIn);
    letIn = '';
  }
  return turns.filter(Boolean);
}

test('a turn of the event loop takes two records of all bodies together, and the bodies take turns', async () => {
  assert.deepEqual(await turnsOf(['a', 'b', 'c'], 4, RECORD_BYTES), ['ab', 'ca', 'bc', 'ab', 'ca', 'bc']);
});

test('a piece that is longer than a turn takes is let in alone', async () => {
  assert.deepEqual(await turnsOf(['a', 'b'], 2, 10 * RECORD_BYTES), ['a', 'b', 'a', 'b']);
});
