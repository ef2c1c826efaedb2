import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';

const { values } = parseArgs({
  options: {
    operations: { type: 'string', default: '2000000' },
    games: { type: 'string', default: '20' },
    services: { type: 'string', default: '1' },
    only: { type: 'string' },
    seed: { type: 'string', default: 'money' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`npm run model [-- --operations 2000000 --games 20 --services 1 --only=sqlite|postgres --seed money]
Drives the API with random histories of payments, purchases, refunds, disputes, sales of a backend, purchases at stores,
merged and deleted accounts, lost answers and jumps of the clock, in several games at the same time, and compares each
outcome with a naive model. Several services, each with its games and its share of the operations, use several cores. It
fails unless both databases end with the same digests.`);
} else {
  const databases = values.only === undefined ? ['sqlite', 'postgres'] : [values.only];
  const digests = new Set<string | undefined>();
  for (const database of databases) digests.add(await digestsOn(database));
  if (databases.length > 1) console.log(digests.size === 1 ? 'both databases agree' : 'THE DATABASES DIFFER');
  process.exitCode = digests.size === 1 && !digests.has(undefined) ? 0 : 1;
}

/** Undefined if a run failed. */
async function digestsOn(database: string): Promise<string | undefined> {
  const count = Number(values.services);
  const share = String(Math.ceil(Number(values.operations) / count));
  const seeds = Array.from({ length: count }, (_, at) => (at === 0 ? values.seed : `${values.seed}-${at + 1}`));
  const digests = await Promise.all(seeds.map((seed) => digestOf(database, seed, share)));
  return digests.includes(undefined) ? undefined : digests.join();
}

async function digestOf(database: string, seed: string, operations: string): Promise<string | undefined> {
  const child = spawn(process.execPath, ['test/model/run.ts', operations, seed, values.games], {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, MODSTEAD_TEST_DATABASE: database },
  });
  const begun = performance.now();
  let digest: string | undefined;
  for await (const line of createInterface(child.stdout)) {
    console.log(`${database}, ${seed}, ${Math.round((performance.now() - begun) / 1_000)} s: ${line}`);
    digest = /CPU, digest (\w+)/.exec(line)?.[1];
  }
  return digest;
}
