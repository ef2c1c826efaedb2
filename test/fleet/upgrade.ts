import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { freePort } from '../free-port.ts';
import { temporaryDatabases, temporaryFolder } from '../temporary.ts';
import { within } from './cluster.ts';
import { Doors } from './doors.ts';
import { lostFields } from './same-shape.ts';
import { type RunningService, runCommand, startService } from './services.ts';
import { makeSubscribers, Subscriptions } from './subscribers.ts';
import { Load, makeWriters } from './writers.ts';

const CHECKOUT = resolve(import.meta.dirname, '../..');
const PHASE_MS_MAX = 120_000;

export interface UpgradeResult {
  readonly acknowledged: number;
  readonly read: number;
  /** Requests that failed, for whatever reason. */
  readonly failed: number;
  readonly wrong: readonly string[];
  readonly lost: readonly string[];
}

export interface UpgradeOptions {
  /** The earlier commit. */
  readonly from: string;
  readonly writers: number;
  /** Acknowledged writes in each phase. */
  readonly writes: number;
  readonly say: (line: string) => void;
}

/** The commit of the version in package.json: its tag, or the commit that set the version. */
export function lastRelease(): string {
  const { version } = JSON.parse(readFileSync(join(CHECKOUT, 'package.json'), 'utf8'));
  const tagged = git('tag', '--list', `v${version}`);
  return (
    tagged || git('log', '--reverse', '--format=%H', `-S"version": "${version}"`, '--', 'package.json').split('\n')[0]!
  );
}

const git = (...words: string[]) => execFileSync('git', words, { cwd: CHECKOUT, encoding: 'utf8' }).trim();

/** Runs an earlier commit and this one side by side under load, on the database of the run: forth, back, and forth again. */
export async function upgrade({ from, writers, writes, say }: UpgradeOptions): Promise<UpgradeResult> {
  const folder = temporaryFolder('upgrade');
  const old = join(folder, 'old');
  const databases = await temporaryDatabases(folder, { empty: true });
  const services: RunningService[] = [];
  try {
    makeCheckout(from, old);
    const env = { ...settingsOf(folder), ...databases.settings };
    const envOf = (checkout: string) => known(env, checkout);
    const run = (command: string, checkout: string) => runCommand(command, { checkout, env: envOf(checkout), folder });
    const serve = async (checkout: string) => {
      const port = await freePort();
      const service = await startService({ checkout, env: envOf(checkout), folder, port });
      services.push(service);
      return service;
    };
    await run('migrate', old);
    await run('demo', old);
    const before = await serve(old);
    say(`the service of ${from} is ready`);
    // With the rules of today: the old program has no command for it.
    await run('migrate', CHECKOUT);
    const doors = new Doors([before]);
    const here = { ...env, MODSTEAD_PORT: '8443' };
    const load = new Load(await makeWriters(here, writers), doors);
    const subscriptions = new Subscriptions(await makeSubscribers(here, writers), doors);
    await subscriptions.start();
    load.start();
    const phase = async (what: string) => {
      const until = load.seen.acknowledged + writes;
      const untilSubscribed = subscriptions.acknowledged + writes;
      await within(
        PHASE_MS_MAX,
        what,
        async () => load.seen.acknowledged >= until && subscriptions.acknowledged >= untilSubscribed,
      );
      say(`${what}: ${load.seen.acknowledged + subscriptions.acknowledged} writes acknowledged`);
    };
    await phase('the old program on the new schema');
    const after = await serve(CHECKOUT);
    await doors.moveTo([before, after]);
    await phase('both side by side');
    const fields = await lostFields(before, after, subscriptions.token, subscriptions.mod);
    await doors.moveTo([after]);
    await before.stop();
    await phase('the new program alone');
    const again = await serve(old);
    await doors.moveTo([again, after]);
    await phase('back, side by side');
    await doors.moveTo([again]);
    await after.stop();
    await phase('the old program again');
    const last = await serve(CHECKOUT);
    await doors.moveTo([last]);
    await again.stop();
    await phase('forth again');
    await Promise.all([load.stop(), subscriptions.stop()]);
    await subscriptions.check();
    const { acknowledged, read, refused, broken, wrong } = load.seen;
    return {
      acknowledged: acknowledged + subscriptions.acknowledged,
      read,
      failed: refused + broken,
      wrong: [...wrong, ...subscriptions.wrong, ...fields],
      lost: await load.lost(),
    };
  } finally {
    for (const { child } of services) child.kill('SIGKILL');
    execFileSync('git', ['worktree', 'remove', '--force', old], { cwd: CHECKOUT, stdio: 'ignore' });
    await databases.drop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The files of a commit, with the packages of this checkout. */
function makeCheckout(commit: string, folder: string): void {
  execFileSync('git', ['worktree', 'add', '--detach', folder, commit], { cwd: CHECKOUT, stdio: 'ignore' });
  symlinkSync(join(CHECKOUT, 'node_modules'), join(folder, 'node_modules'));
}

const settingsOf = (folder: string): Record<string, string> => ({
  MODSTEAD_DATA: join(folder, 'data'),
  MODSTEAD_SECRET: 'a secret of the upgrade that is long enough for anyone',
  MODSTEAD_PUBLIC_PORT: '443',
  MODSTEAD_TRUST_PROXY: '127.0.0.1',
  MODSTEAD_RATE_LIMITS: 'off',
  MODSTEAD_PROCESSES: '1',
  MODSTEAD_LOG: 'info',
});

/** A program refuses settings that its version does not have. */
function known(env: Record<string, string>, checkout: string): Record<string, string> {
  const documented = readFileSync(join(checkout, 'docs/settings.md'), 'utf8');
  return Object.fromEntries(Object.entries(env).filter(([name]) => documented.includes(name)));
}
