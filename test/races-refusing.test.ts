import assert from 'node:assert/strict';
import { test } from 'node:test';
import { composeWorker } from '../src/composition/compose.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { type Answer, startApi } from './api.ts';
import { Barrier } from './barriers.ts';
import { DECLARED, placesOf, setNextUserId } from './people.ts';
import { aCast, aScene } from './race-scene.ts';
import { addersOf, ENDERS, idOf, isBy, nothing, RACE_SETTINGS, send, UNLIMITED_READS } from './races.ts';
import { columnsOf } from './tables.ts';

const api = await startApi(RACE_SETTINGS);
const { db } = api.app();
for (const app of api.apps()) Object.assign(app.db, UNLIMITED_READS);
const cast = await aCast(api);
const barrier = new Barrier(...api.apps());
await setNextUserId(db, 800_000);
const worker = composeWorker(api.app());
const columns = await columnsOf(db);

let pairs = 0;
const keepers = (when: 'whenDeleted' | 'whenMerged') => [
  ...DECLARED.filter((each) => typeof each[when] === 'object').map(({ table, column }) => `${table}.${column}`),
  'user_cards.id',
];

for (const [name, ender] of Object.entries(ENDERS)) {
  if (ender.refuses === nothing) continue;
  test(`after ${name} a pending addition is refused`, async () => {
    const scene = await aScene(api, cast);
    await ender.before?.(scene, db);
    const [kind] = Object.keys(ender.of(scene));
    // Moderators may still act on a locked or banned user.
    const isTheirs = (operation: AnyOperation) => kind !== 'users' || isBy(scene, operation) === ender.of(scene).users;
    const endsToo = ({ declaration }: AnyOperation) => declaration.method === 'DELETE' && declaration.ends?.length;
    const refused = (operation: AnyOperation) =>
      isTheirs(operation) && !(kind !== 'users' && endsToo(operation)) && (ender.refuses?.(operation) ?? true);
    const held: { operation: AnyOperation; stop: { go(): void }; answer: Promise<Answer> }[] = [];
    for (const operation of addersOf(name, scene).filter(refused)) {
      const adding = await barrier.upTo('before', () => send(operation, scene));
      if (adding.isHeld) held.push({ operation, ...adding });
    }
    assert.ok(held.length > 0, 'no write was paused');
    const ended = await ender.call(scene);
    assert.ok(ended.status < 300, ended.text);
    for (const { stop } of held) stop.go();
    const failures: string[] = [];
    for (const { operation, answer } of held) {
      pairs += 1;
      const { status, text } = await answer;
      if (status < 400 || status >= 500) failures.push(`${idOf(operation)}: ${status} ${text.slice(0, 200)}`);
    }
    assert.deepEqual(failures, []);
    await worker.runDue();
    if (!ender.erases) return;
    const mayStay = keepers(ender.erases);
    const places = await placesOf(db, columns, scene.author.id);
    assert.deepEqual(
      places.filter((place) => !mayStay.includes(place)),
      [],
    );
  });
}

test('hundreds of races ran', (t) => {
  t.diagnostic(`${pairs} races`);
  assert.ok(pairs > 500);
});
