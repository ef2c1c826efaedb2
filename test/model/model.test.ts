import assert from 'node:assert/strict';
import { test } from 'node:test';
import { verifyLedger } from '../../src/money/ledger/verification.ts';
import { startApi } from '../api.ts';
import { History } from './history.ts';

const api = await startApi({
  settings: {
    MODSTEAD_JOBS: 'off',
    MODSTEAD_PAYMENTS: 'simulated',
    MODSTEAD_STORES: 'simulated',
    MODSTEAD_RATE_LIMITS: 'off',
  },
});

/** A few seconds of one core on either database; `npm run model` does more. */
const BY_DEFAULT = process.env['MODSTEAD_TEST_DATABASE'] === 'postgres' ? 600 : 2_000;
const OPERATIONS = Number(process.env['MODSTEAD_TEST_MODEL'] ?? BY_DEFAULT);
const SEED = process.env['MODSTEAD_TEST_SEED'] ?? 'money';
const COMPARED_EVERY = 250;

test(`the service agrees with a naive model after ${OPERATIONS} random operations`, async () => {
  const history = new History(api, SEED);
  await history.setUp();
  let verified = 0;
  for (let done = 1; done <= OPERATIONS; done += 1) {
    await history.step();
    if (done % COMPARED_EVERY === 0) await history.compare();
    // Verification reads everything, so a long history is verified each time that it has doubled.
    if (done < Math.max(COMPARED_EVERY, verified * 2)) continue;
    verified = done;
    assert.deepEqual((await verifyLedger(api.app())).problems, []);
    process.stdout.write(`${done} operations\n`);
  }
  await history.compare();
  assert.deepEqual((await verifyLedger(api.app())).problems, []);
  console.log(`${OPERATIONS} operations, ${history.counts.size} kinds of outcomes, digest ${await history.digest()}`);
});
