import { parseArgs } from 'node:util';
import { clockJump, LOOKED_AT } from '../test/faults/clock.ts';
import { silence } from '../test/faults/silence.ts';
import { hangingReader, megabytes } from '../test/faults/wal.ts';

const SILENCE_MS_MAX = 5_000;
const LOG_BYTES_MAX = 1.1 * 1024 ** 3;
const LOG_KEPT_BYTES_MAX = 64 * 1024 ** 2;

const FAULTS = ['silence', 'clock', 'wal'];
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '12' },
    help: { type: 'boolean' },
  },
});
if (values.help) {
  console.log(`npm run faults [-- --only silence|clock|wal --rounds 5 --seconds 12]
silence: the connections of a service to PostgreSQL fall silent. A revoked token must be refused, and every client must have
  written again, within ${SILENCE_MS_MAX / 1_000} s, in each of the rounds.
clock: the clock of a service, and of one that starts meanwhile, is 400 days ahead for some seconds, on SQLite and on PostgreSQL.
  No token and no event may be deleted.
wal: another program reads the SQLite database and hangs, while 16 clients write. The log may grow to ${megabytes(LOG_BYTES_MAX)}; then
  writes are refused and reads answered. After it ${megabytes(LOG_KEPT_BYTES_MAX)} may stay.
The exit code is 1 where a bound does not hold. npm run crash, fleet, upgrade and restore-drill have the other faults.`);
} else {
  if (values.only && !FAULTS.includes(values.only)) throw new Error(`--only is one of ${FAULTS.join(', ')}.`);
  const bounds: Record<string, () => Promise<boolean>> = { silence: silenceHolds, clock: clockHolds, wal: walHolds };
  for (const fault of values.only ? [values.only] : FAULTS)
    if (!(await bounds[fault]!())) {
      console.log(`${fault}: a bound does not hold`);
      process.exitCode = 1;
    }
}

function on(database: string): void {
  process.env['MODSTEAD_TEST_DATABASE'] = database;
}

async function silenceHolds(): Promise<boolean> {
  on('postgres');
  const { revokedMs, backMs } = await silence(Number(values.rounds), sayOf('silence'));
  const [revoked, back] = [Math.max(...revokedMs), Math.max(...backMs)];
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;
  console.log(
    `silence: ${revokedMs.length} revoked tokens refused after at most ${seconds(revoked)}, ` +
      `16 clients written again after at most ${seconds(back)} (bound ${seconds(SILENCE_MS_MAX)})`,
  );
  return revoked <= SILENCE_MS_MAX && back <= SILENCE_MS_MAX;
}

async function clockHolds(): Promise<boolean> {
  let holds = true;
  for (const database of ['sqlite', 'postgres']) {
    on(database);
    const { before, after, refused } = await clockJump(Number(values.seconds), sayOf(`clock on ${database}`));
    const names = Object.keys(before).filter((name) => name !== LOOKED_AT);
    const deleted = names.map((name) => `${before[name]! - after[name]!} of ${before[name]} ${name}`);
    console.log(
      `clock on ${database}: deleted ${deleted.join(', ')}; ${refused} tokens refused after it; ${after[LOOKED_AT]} jobs were due meanwhile`,
    );
    holds &&= refused === 0 && after[LOOKED_AT]! > 0 && names.every((name) => after[name]! >= before[name]!);
  }
  return holds;
}

async function walHolds(): Promise<boolean> {
  on('sqlite');
  const { usual, longest, after, acknowledged, refused, readsFailed, wrong } = await hangingReader(sayOf('wal'));
  for (const line of wrong) console.log(`WRONG ${line}`);
  console.log(
    `wal: ${megabytes(usual)} usually, at most ${megabytes(longest)} (bound ${megabytes(LOG_BYTES_MAX)}), ${megabytes(after)} after it ` +
      `(bound ${megabytes(LOG_KEPT_BYTES_MAX)}); ${acknowledged} acknowledged, ${refused} refused with 503, ${readsFailed} reads failed`,
  );
  const isShort = longest <= LOG_BYTES_MAX && usual <= LOG_KEPT_BYTES_MAX && after <= LOG_KEPT_BYTES_MAX;
  return isShort && refused > 0 && readsFailed + wrong.length === 0;
}

function sayOf(fault: string): (line: string) => void {
  return (line) => console.log(`${fault}: ${line}`);
}
