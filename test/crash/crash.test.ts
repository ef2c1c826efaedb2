// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { crashLoop } from './crash.ts';
import { uploadCrashLoop } from './uploads.ts';
import { webhookCrashLoop } from './webhooks.ts';

// Runs on both databases, like all that say: eachDatabase.
test('kill -9 while 16 clients write loses nothing that was acknowledged', async () => {
  const { acknowledged, lost } = await crashLoop(3);
  assert.deepEqual(lost, []);
  assert.ok(acknowledged > 16, `only ${acknowledged} writes were acknowledged`);
});

test('kill -9 while files come in parts loses no acknowledged part, and leaves no file that is not whole', async () => {
  const { parts, completed, lost } = await uploadCrashLoop(2);
  assert.deepEqual(lost, []);
  assert.ok(parts >= 2 && completed >= 1, `only ${parts} parts and ${completed} files were acknowledged`);
});

test('kill -9 while webhooks are sent loses no event, and keeps the order of each mod', async () => {
  const { acknowledged, heard, lost, disordered } = await webhookCrashLoop(2);
  assert.deepEqual({ lost, disordered }, { lost: [], disordered: [] });
  assert.ok(acknowledged > 0 && heard >= acknowledged, `${acknowledged} acknowledged, ${heard} heard`);
});
