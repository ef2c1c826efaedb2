import { parseArgs } from 'node:util';
import { checkoutCrashLoop } from '../test/crash/checkouts.ts';
import { counterStorm } from '../test/crash/counters.ts';
import { crashLoop, type Surroundings, withService } from '../test/crash/crash.ts';
import { importCrashLoop } from '../test/crash/imports.ts';
import { reasonWithoutPower, withPower } from '../test/crash/power.ts';
import { saleCrashLoop } from '../test/crash/sales.ts';
import { uploadCrashLoop } from '../test/crash/uploads.ts';

const { values } = parseArgs({
  options: {
    loops: { type: 'string', default: '50' },
    uploads: { type: 'boolean' },
    counters: { type: 'string' },
    checkouts: { type: 'boolean' },
    sales: { type: 'boolean' },
    imports: { type: 'string' },
    without: { type: 'string', multiple: true },
    power: { type: 'boolean' },
    help: { type: 'boolean' },
  },
});
const cuts = { unsyncedLost: 0, unsyncedKept: 0 };
const faults = values.power ? 'power cuts' : 'kills';
if (values.help) {
  console.log(`npm run crash [-- --loops 50 --power --uploads | --counters 100000 | --checkouts | --sales | --imports 10000]
Kills the service with -9 while 16 clients write, restarts it, and looks for acknowledged writes that are gone.
With --uploads the clients upload files in parts and resume, and each file is looked at.
With --power everything is on a disk that loses what was not flushed, and the disk is cut off instead: for writes and --uploads.
It needs root and the Debian packages nbdkit and libnbd-bin, on PostgreSQL postgresql.
With --counters they subscribe, rate, comment and follow at random until this many writes are acknowledged. A service is
killed as often as --loops says; two run on PostgreSQL. Every counter must then equal a recount within five seconds.
With --checkouts they buy and return a mod, the books are verified, and lost answers are asked for again.
With --sales a backend reports, commits and claws back sales of 16 players while they clear and the seller is paid.
With --imports a game with this many mods is imported from another service, in one run and in one that is killed as often as
--loops says; rows and public answers of both must be the same. --without files leaves files out, as in "import modio".
MODSTEAD_TEST_DATABASE=postgres runs it on PostgreSQL.`);
} else if (values.uploads) {
  const { loops, parts, completed, lost } = await uploadCrashLoop(Number(values.loops), console.log, surroundings());
  for (const line of lost) console.log(`LOST ${line}`);
  console.log(
    `${loops} ${faults}, ${parts} acknowledged parts, ${completed} files, ${lost.length} lost${lostUnsynced()}`,
  );
  process.exitCode = lost.length > 0 ? 1 : 0;
} else if (values.counters) {
  const options = { writes: Number(values.counters), kills: Number(values.loops), settleMs: 5_000 };
  const { acknowledged, kills, wrong, settledMs } = await counterStorm(options, console.log);
  for (const line of wrong) console.log(`WRONG ${line}`);
  console.log(
    `${kills} kills, ${acknowledged} acknowledged writes, ${wrong.length} wrong counters ${Math.round(settledMs)} ms later`,
  );
  process.exitCode = wrong.length > 0 ? 1 : 0;
} else if (values.checkouts) {
  const { loops, purchases, refunds, problems } = await checkoutCrashLoop(Number(values.loops), console.log);
  for (const line of problems) console.log(`PROBLEM ${line}`);
  console.log(`${loops} kills, ${purchases} purchases, ${refunds} returns, ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
} else if (values.sales) {
  const { loops, commits, clawbacks, cleared, payouts, problems } = await saleCrashLoop(
    Number(values.loops),
    console.log,
  );
  for (const line of problems) console.log(`PROBLEM ${line}`);
  console.log(
    `${loops} kills, ${commits} commits, ${clawbacks} clawbacks, ${cleared} cleared, ${payouts} payouts, ${problems.length} problems`,
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
} else if (values.imports) {
  const { kills, mods, seconds, rows, answers, differences } = await importCrashLoop(
    { mods: Number(values.imports), kills: Number(values.loops), without: values.without ?? [] },
    console.log,
  );
  for (const line of differences.slice(0, 100)) console.log(`DIFFERENT ${line.slice(0, 2_000)}`);
  console.log(
    `${kills} kills, ${mods} mods, one run ${seconds.toFixed(1)} s (${Math.round(mods / seconds)} mods per second), ` +
      `${rows} rows and ${answers} answers compared, ${differences.length} differences`,
  );
  process.exitCode = differences.length > 0 || kills < Number(values.loops) ? 1 : 0;
} else {
  const result = await crashLoop(Number(values.loops), console.log, surroundings());
  const { loops, acknowledged, lost, slowestStartMs } = result;
  for (const line of lost) console.log(`LOST ${line}`);
  console.log(
    `${loops} ${faults}, ${acknowledged} acknowledged writes, ${lost.length} lost, slowest start ${Math.round(slowestStartMs)} ms${lostUnsynced()}`,
  );
  process.exitCode = lost.length > 0 ? 1 : 0;
}

function surroundings(): Surroundings {
  if (!values.power) return withService;
  const reason = reasonWithoutPower();
  if (reason) throw new Error(reason);
  return withPower(cuts);
}

/** A disk that keeps everything would prove nothing. */
function lostUnsynced(): string {
  if (!values.power) return '';
  const { unsyncedLost, unsyncedKept } = cuts;
  return `; bytes that nobody synced were gone after ${unsyncedLost} of ${unsyncedLost + unsyncedKept} cuts`;
}
