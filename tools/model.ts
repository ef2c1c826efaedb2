import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '2000000' },
    games: { type: 'string', default: '20' },
    only: { type: 'string' },
    seed: { type: 'string', default: 'money' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`npm run model [-- --operations 2000000 --games 20 --only=sqlite|postgres --seed money]
Drives the API with random histories of payments, purchases, refunds, disputes, sales of a backend, purchases at stores,
merged and deleted accounts, lost answers and jumps of the clock, in several games at the same time, and compares each
outcome with a naive model. It fails unless both databases end with the same digest.`);
} else {
  const databases = values.only === undefined ? ['sqlite', 'postgres'] : [values.only];
  const digests = new Set<string | undefined>();
  for (const database of databases) digests.add(await digestOn(database));
  if (databases.length > 1) console.log(digests.size === 1 ? 'both databases agree' : 'THE DATABASES DIFFER');
  process.exitCode = digests.size === 1 && !digests.has(undefined) ? 0 : 1;
}

/** Undefined if the run failed. */
async function digestOn(database: string): Promise<string | undefined> {
  const { operations, seed, games } = values;
  const child = spawn(process.execPath, ['test/model/run.ts', operations, seed, games], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, MODSTEAD_TEST_DATABASE: database },
  });
  const begun = performance.now();
  let digest: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    console.log(`${database}, ${Math.round((performance.now() - begun) / 1_000)} s: ${line}`);
    digest = /digest (\w+)/.exec(line)?.[1] ?? digest;
  }
  return digest;
}
