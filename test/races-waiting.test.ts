import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { addersOf, ENDERS, FOR_RACES, idOf, NOT_RACED, PLACES_FOR_ALL, thingsOf, writing } from './races.ts';
import { aCast, aScene } from './racing.ts';
import { raced } from './racing-together.ts';
import { assertNone } from './rows.ts';

const api = await startApi(FOR_RACES);
const { db } = api.app();
Object.assign(db, PLACES_FOR_ALL);
const cast = await aCast(api);
const barrier = new Barrier(db);
const shared = await aScene(api, cast);

test('every operation that writes says what it is under, what it ends, or why it holds nothing', () => {
  const silent = writing.filter((each) => thingsOf(each).length === 0 && !each.declaration.unlocked);
  assertNone(
    silent.map(idOf),
    'Say in the declaration of each of these what it is "under", what it "ends", or why it is "unlocked".',
  );
  const enders = writing.filter(({ declaration }) => declaration.ends?.length).map(idOf);
  assertNone(
    enders.filter((id) => !ENDERS[id] && !NOT_RACED[id]),
    'These end something: add each to ENDERS in test/races.ts, with how it is called, or to NOT_RACED there, with why it is in no race.',
  );
});

let pairs = 0;
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
    test(`${tag}: whoever ends what something is being added to waits for it`, async () => {
      pairs += await raced(barrier, races, shared);
    });
}

test('races were run', (t) => {
  t.diagnostic(`${pairs} races`);
  assert.ok(pairs > 1_000);
});
