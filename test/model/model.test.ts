import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startApi } from '../api.ts';
import { Histories } from './histories.ts';
import { MODEL_API } from './scene.ts';

const api = await startApi(MODEL_API);

/** `npm run model` does more. */
const OPERATIONS = 5_000;
const GAMES = 6;

test(`the service agrees with a naive model after ${OPERATIONS} random operations`, async () => {
  const histories = new Histories(api, { seed: 'money', games: GAMES });
  await histories.setUp();
  await histories.run(OPERATIONS);
  assert.ok(histories.operations >= OPERATIONS);
});

test('games that act at the same time end as games that take turns', async () => {
  const digests: string[] = [];
  for (const inTurn of [false, true]) {
    const histories = new Histories(api, { seed: 'turns', games: 2, inTurn });
    await histories.setUp();
    await histories.run(100);
    digests.push(await histories.digest());
  }
  assert.equal(digests[0], digests[1]);
});
