import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AnyOperation } from '../src/http/operation.ts';
import { type Answer, startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { addersOf, ENDERS, FOR_RACES, IN_STEPS, idOf, NOT_RACED, send, thingsOf, writing } from './races.ts';
import { aCast, aScene, type Scene } from './racing.ts';

const api = await startApi(FOR_RACES);
const { db } = api.app();
const cast = await aCast(api);
const barrier = new Barrier(db);
const shared = await aScene(api, cast);

test('every operation that writes says what it is under, what it ends, or why it holds nothing', () => {
  const silent = writing.filter((each) => thingsOf(each).length === 0 && !each.declaration.unheld);
  assert.deepEqual(silent.map(idOf), []);
  const enders = writing.filter(({ declaration }) => declaration.ends?.length).map(idOf);
  for (const id of enders) assert.ok(ENDERS[id] ?? NOT_RACED[id], `${id} ends something, and is in no race`);
});

let pairs = 0;

/** Everything that is begun is taken back, so that all races have the same ground. What is wrong with them is told. */
async function race(operation: AnyOperation, names: readonly string[], scene: Scene): Promise<string[]> {
  const isUndone = !IN_STEPS.includes(idOf(operation));
  barrier.undoes = isUndone;
  const adding = await barrier.upTo('done', () => send(operation, scene));
  if (!adding.isHeld) {
    const { status, text } = await adding.answer;
    return [`${idOf(operation)} never wrote: ${status} ${text.slice(0, 200)}`];
  }
  pairs += names.length;
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
  const statuses = await Promise.all([adding.answer, ...ended].map(async (each) => (await each).status));
  const hasty = names.filter((_, index) => states[index] !== 'waits');
  return [
    ...hasty.map((name) => `${name} did not wait for ${idOf(operation)}`),
    ...(statuses.some((status) => status >= 500) ? [`${idOf(operation)}, ${names.join(', ')}: ${statuses}`] : []),
  ];
}

async function raced(races: readonly (readonly [AnyOperation, readonly string[]])[], scene: Scene): Promise<void> {
  const failures: string[] = [];
  try {
    for (const [operation, names] of races) failures.push(...(await race(operation, names, scene)));
  } finally {
    barrier.clear();
    barrier.undoes = false;
  }
  assert.deepEqual(failures, []);
}

/** Whoever ends the same waits for the same, so that all of them are begun while one write is held. */
const together = Object.keys(ENDERS).filter((name) => !ENDERS[name]!.before);
const adders = new Map(together.map((name) => [name, addersOf(name, shared)]));
/** Each of them needs a connection while it waits, and there are no more than ten. */
const AT_ONCE = 5;
const inTurns = (names: readonly string[]): string[][] =>
  Array.from({ length: Math.ceil(names.length / AT_ONCE) }, (_, turn) =>
    names.slice(turn * AT_ONCE, (turn + 1) * AT_ONCE),
  );
const tags = [...new Set(writing.map(({ declaration }) => declaration.tag))];
for (const tag of tags) {
  const races = writing
    .filter(({ declaration }) => declaration.tag === tag)
    .map((operation) => [operation, together.filter((name) => adders.get(name)!.includes(operation))] as const)
    .flatMap(([operation, names]) => inTurns(names).map((some) => [operation, some] as const));
  if (races.length > 0)
    test(`${tag}: whoever ends what something is being added to waits for it`, () => raced(races, shared));
}

for (const [name, ender] of Object.entries(ENDERS)) {
  if (!ender.before) continue;
  test(`${name} waits for whatever is being added to what it ends`, async () => {
    const scene = await aScene(api, cast);
    await ender.before!(scene, db);
    await raced(
      addersOf(name, scene).map((operation) => [operation, [name]] as const),
      scene,
    );
  });
}

test('races were run', (t) => {
  t.diagnostic(`${pairs} races`);
  assert.ok(pairs > 1_000);
});
