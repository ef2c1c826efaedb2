import { parseArgs } from 'node:util';
import { type Fault, failovers, missingForFleet } from '../test/fleet/failover.ts';

const BACK_MS_MAX = 10_000;

const { values } = parseArgs({
  options: { short: { type: 'boolean' }, writers: { type: 'string', default: '6' }, help: { type: 'boolean' } },
});
if (values.help) {
  console.log(`npm run fleet [-- --short --writers 6]
Starts three PostgreSQL nodes under Patroni with a synchronous standby, etcd, HAProxy, the gateway of Ceph as the bucket, and
three services, each on a machine of its own (a network namespace). Under load it kills the primary, partitions it, and
switches over; with --short it only kills it. No acknowledged write may be lost, and writes must be back within ${BACK_MS_MAX / 1_000} s of the promotion.
It needs root and the Debian packages patroni, etcd-server, haproxy, postgresql-15 and (it installs them) those of Ceph, and removes all that it makes.`);
} else {
  const missing = missingForFleet();
  if (missing) throw new Error(missing);
  const faults: Fault[] = values.short ? ['kill'] : ['kill', 'partition', 'switchover'];
  for (const result of await failovers(faults, Number(values.writers), console.log)) {
    const { fault, promotedMs, backMs, acknowledged, files, refused, broken, wrong, lost } = result;
    for (const line of [...lost.map((each) => `LOST ${each}`), ...wrong.map((each) => `WRONG ${each}`)])
      console.log(line);
    console.log(
      `${fault}: promoted after ${seconds(promotedMs)}, writes back ${seconds(backMs)} later (at most ${seconds(BACK_MS_MAX)}); ` +
        `${acknowledged} writes and ${files} files acknowledged, ${refused} refused with 503, ${broken} broken off, ${wrong.length} wrong, ${lost.length} lost`,
    );
    if (lost.length + wrong.length > 0 || backMs > BACK_MS_MAX) process.exitCode = 1;
  }
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`;
}
