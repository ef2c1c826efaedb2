import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashLoop } from './crash.ts';

// Runs on both databases, like all that say: eachDatabase.
test('kill -9 while 16 clients write loses nothing that was acknowledged', async () => {
  const { acknowledged, lost } = await crashLoop(3);
  assert.deepEqual(lost, []);
  assert.ok(acknowledged > 16, `only ${acknowledged} writes were acknowledged`);
});
