import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { assertNone } from './hand-tables.ts';
import { raced } from './race-runs.ts';
import { aCast, aScene } from './race-scene.ts';
import {
  addersOf,
  ENDERS,
  idOf,
  lockedKindsOf,
  NOT_RACED,
  RACE_SETTINGS,
  UNLIMITED_READS,
  UNREACHED,
  writing,
} from './races.ts';

const api = await startApi(RACE_SETTINGS);
for (const app of api.apps()) Object.assign(app.db, UNLIMITED_READS);
const cast = await aCast(api);
const barrier = new Barrier(...api.apps());
const shared = await aScene(api, cast);

test('every operation that writes declares what it locks, what it ends, or why it locks nothing', () => {
  const silent = writing.filter((each) => lockedKindsOf(each).length === 0 && !each.declaration.unlocked);
  assertNone(
    silent.map(idOf),
    'Declare for each of these what it is "under", what it "ends", or why it is "unlocked".',
  );
  const enders = writing.filter(({ declaration }) => declaration.ends?.length).map(idOf);
  assertNone(
    enders.filter((id) => !ENDERS[id] && !NOT_RACED[id]),
    'These end something: add each to ENDERS in test/races.ts with its request, or to NOT_RACED with the reason.',
  );
});

let pairs = 0;
/** Operations that end the same resource wait for the same locks, so all of them start during one paused write. */
const together = Object.keys(ENDERS).filter((name) => !ENDERS[name]!.before);
const adders = new Map(together.map((name) => [name, addersOf(name, shared)]));
/** Each waiting operation needs a connection, and there are only ten. */
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
    test(`${tag}: operations that end a resource wait for uncommitted additions to it`, async () => {
      pairs += await raced(barrier, races, shared);
    });
}

test('more than a thousand races ran', (t) => {
  t.diagnostic(`${pairs} races`);
  for (const [id, reason] of Object.entries(UNREACHED)) t.diagnostic(`${id} adds nothing: it ${reason}`);
  assert.ok(pairs > 1_000);
});
