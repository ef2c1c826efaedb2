import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { keepNextTickFast } from './next-tick.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

test('One of the objects in which Node.js queues callbacks survives garbage collection', async () => {
  const kept = new WeakRef(await keepNextTickFast());
  const forgotten = new WeakRef({});
  // An object whose weak reference was just made lives until the end of the turn.
  await turn();
  collectGarbage();
  assert.equal(forgotten.deref(), undefined);
  assert.equal(typeof (kept.deref() as { callback?: unknown } | undefined)?.callback, 'function');
});
