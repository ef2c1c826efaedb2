import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '2000000' },
    only: { type: 'string' },
    seed: { type: 'string', default: 'money' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`npm run model [-- --operations 2000000 --only=sqlite|postgres --seed money]
Drives the API with a random history of payments, purchases, refunds, disputes, sales of a backend, purchases at stores,
merged and deleted accounts, lost answers and jumps of the clock, and compares each outcome with a naive model.
Both databases print the same digest for the same seed.`);
} else {
  // The longest time that a timer can wait.
  const limits = ['--test-timeout=2147483', '--file-timeout=2147483'];
  const only = values.only === undefined ? [] : [`--only=${values.only}`];
  const { status } = spawnSync(
    process.execPath,
    ['tools/test.ts', '--verbose', '--concurrency=1', ...limits, ...only, 'test/model/model.test.ts'],
    {
      stdio: 'inherit',
      env: { ...process.env, MODSTEAD_TEST_MODEL: values.operations, MODSTEAD_TEST_SEED: values.seed },
    },
  );
  process.exitCode = status ?? 1;
}
