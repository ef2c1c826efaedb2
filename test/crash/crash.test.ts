// Runs alone: it starts programs, which end with its process.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkoutCrashLoop } from './checkouts.ts';
import { counterStorm } from './counters.ts';
import { crashLoop } from './crash.ts';
import { importCrashLoop } from './imports.ts';
import { saleCrashLoop } from './sales.ts';
import { uploadCrashLoop } from './uploads.ts';
import { webhookCrashLoop } from './webhooks.ts';

// Each service that is killed takes seconds to start; `npm run crash` kills more often.
// The runner looks for this word to run the file on both databases: eachDatabase.
test('kill -9 during the writes of 16 clients loses no acknowledged write', async () => {
  const { acknowledged, lost } = await crashLoop(1);
  assert.deepEqual(lost, []);
  assert.ok(acknowledged > 16, `only ${acknowledged} writes were acknowledged`);
});

test('after random writes and kills, every counter equals a recount', async () => {
  const { acknowledged, wrong } = await counterStorm({ writes: 120, kills: 1, settleMs: 60_000 });
  assert.deepEqual(wrong, []);
  assert.ok(acknowledged >= 120, `only ${acknowledged} writes were acknowledged`);
});

test('kill -9 during multipart uploads loses no acknowledged part and leaves no incomplete file', async () => {
  const { parts, completed, lost } = await uploadCrashLoop(1);
  assert.deepEqual(lost, []);
  assert.ok(parts >= 2 && completed >= 1, `only ${parts} parts and ${completed} files were acknowledged`);
});

test('kill -9 during webhook deliveries loses no event and preserves the order per mod', async () => {
  const { acknowledged, received, lost, disordered } = await webhookCrashLoop(1);
  assert.deepEqual({ lost, disordered }, { lost: [], disordered: [] });
  assert.ok(acknowledged > 0 && received >= acknowledged, `${acknowledged} acknowledged, ${received} received`);
});

test('kill -9 during checkouts and refunds leaves nothing half done, and a repeated request gets its answer', async () => {
  const { purchases, problems } = await checkoutCrashLoop(1);
  assert.deepEqual(problems, []);
  assert.ok(purchases > 0);
});

test('kill -9 during commits, clawbacks, clearing and payouts leaves nothing half done, and a repeated request succeeds', async () => {
  const { commits, clawbacks, problems } = await saleCrashLoop(2);
  assert.deepEqual(problems, []);
  assert.ok(commits > 0 && clawbacks > 0, `${commits} commits, ${clawbacks} clawbacks`);
});

test('an import from another service that is killed again and again ends as one that is not', async () => {
  const { kills, rows, answers, differences } = await importCrashLoop({ mods: 4, kills: 2 });
  assert.deepEqual(differences, []);
  // The second run may end before its kill.
  assert.ok(kills >= 1);
  assert.ok(rows > 500 && answers > 150, `only ${rows} rows and ${answers} answers were compared`);
});
