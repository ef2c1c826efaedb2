import assert from 'node:assert/strict';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import type { Answer } from './api.ts';
import type { Barrier } from './barriers.ts';
import type { Scene } from './race-scene.ts';
import { ENDERS, IN_STEPS, idOf, send } from './races.ts';

/** Runs one race and returns its problems. All writes are rolled back, so that every race starts from the same state. */
async function race(
  barrier: Barrier,
  operation: AnyOperation,
  names: readonly string[],
  scene: Scene,
): Promise<string[]> {
  const isUndone = !IN_STEPS.includes(idOf(operation));
  barrier.undoes = isUndone;
  const adding = await barrier.upTo('done', () => send(operation, scene));
  if (!adding.isHeld) {
    const { status, text } = await adding.answer;
    const problem = `${idOf(operation)} never wrote: ${status} ${text.slice(0, 200)}; give it an input in REQUESTS in test/race-scene.ts, or the reason why it cannot write in UNREACHED in test/races.ts`;
    return [problem];
  }
  const ended: Promise<Answer>[] = [];
  const begin = (name: string) => () => {
    const answer = ENDERS[name]!.call(scene);
    ended.push(answer);
    return answer;
  };
  barrier.undoes = true;
  const states = await barrier.eachEndsOrWaits(names.map(begin));
  barrier.undoes = isUndone;
  adding.stop.go();
  const answers = await Promise.all([adding.answer, ...ended]);
  const failed = answers
    .filter(({ status }) => status >= 500)
    .map(({ status, text }) => `${status} ${text.slice(0, 200)}`);
  const hasty = names.filter((_, index) => states[index] !== 'waits');
  return [
    ...hasty.map((name) => `${name} did not wait for ${idOf(operation)}`),
    ...failed.map((each) => `${idOf(operation)}, ${names.join(', ')}: ${each}`),
  ];
}

/** Pauses each operation before its commit while the others start, and returns the number of races. */
export async function raced(
  barrier: Barrier,
  races: readonly (readonly [AnyOperation, readonly string[]])[],
  scene: Scene,
): Promise<number> {
  const failures: string[] = [];
  try {
    for (const [operation, names] of races) failures.push(...(await race(barrier, operation, names, scene)));
  } finally {
    barrier.clear();
    barrier.undoes = false;
  }
  assert.deepEqual(failures, []);
  return races.flatMap(([, names]) => names).length;
}
