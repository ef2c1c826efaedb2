import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import test, { type TestContext } from 'node:test';
import fc from 'fast-check';
import { eachDatabase } from '../../../test/databases.ts';
import type { Database } from '../database/database.ts';
import { type Clock, type ManualClock, manualClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import { platformSchema } from '../schema.ts';
import { createLimiter, type Limiter, type RateLimitBucket, type Verdict } from './limits.ts';
import { postgresStore } from './postgres.ts';
import { sqliteStore } from './sqlite.ts';
import { type LimitStore, memoryStore } from './store.ts';

const NOW = 1_800_000_000;
const silent = createLog('off', () => {});

function aLimiter(clock: Clock, store: LimitStore = memoryStore()): Limiter {
  return createLimiter({ store, clock, log: silent });
}

function aFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'modstead-limits-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Tries the fast path first, as the server does. */
async function isAllowed(limiter: Limiter, ...buckets: RateLimitBucket[]): Promise<boolean> {
  return limiter.tryTake(buckets) || (await limiter.take(buckets)).allowed;
}

async function countAllowed(limiter: Limiter, bucket: RateLimitBucket, requests: number): Promise<number> {
  let allowed = 0;
  for (let request = 0; request < requests; request += 1) if (await isAllowed(limiter, bucket)) allowed += 1;
  return allowed;
}

function refused(verdict: Verdict | Promise<Verdict>) {
  assert.ok(!(verdict instanceof Promise) && !verdict.allowed, 'it was not refused at once');
  return verdict;
}

/** The store for the database under test. */
function storeOf(db: Database, t: TestContext): () => LimitStore {
  if (db.dialect === 'postgres') return () => postgresStore(db);
  const file = join(aFolder(t), 'limits.sqlite');
  return () => sqliteStore(file);
}

function eachStore(name: string, run: (open: () => LimitStore, db: Database) => Promise<void>): void {
  eachDatabase(name, [platformSchema], ({ db }, t) => run(storeOf(db, t), db));
}

for (const perMinute of [1, 2, 7, 60, 120, 1000]) {
  eachStore(
    `the limiter allows exactly ${perMinute} requests of a burst at a limit of ${perMinute} per minute`,
    async (open) => {
      const limiter = aLimiter(manualClock(NOW), open());
      assert.equal(await countAllowed(limiter, { name: 'a', perMinute }, perMinute * 2 + 10), perMinute);
      await limiter.close();
    },
  );
}

eachStore('the window slides: a token is free again a minute after it was taken, and not before', async (open) => {
  const clock = manualClock(NOW);
  const limiter = aLimiter(clock, open());
  const bucket = { name: 'a', perMinute: 10 };
  assert.equal(await countAllowed(limiter, bucket, 4), 4);
  clock.advance(30);
  assert.equal(await countAllowed(limiter, bucket, 20), 6);
  const verdict = await limiter.take([bucket]);
  assert.deepEqual(verdict, { allowed: false, bucket, retryAfterSeconds: 35 });
  clock.advance(34);
  assert.equal(await countAllowed(limiter, bucket, 20), 0);
  clock.advance(1);
  assert.equal(await countAllowed(limiter, bucket, 20), 4);
  clock.advance(30);
  assert.equal(await countAllowed(limiter, bucket, 20), 6);
  await limiter.close();
});

eachStore('processes share the limit', async (open) => {
  const clock = manualClock(NOW);
  const limiters = [aLimiter(clock, open()), aLimiter(clock, open()), aLimiter(clock, open())];
  const bucket = { name: 'a', perMinute: 100 };
  const counts = await Promise.all(limiters.map((limiter) => countAllowed(limiter, bucket, 200)));
  assert.equal(
    counts.reduce((sum, count) => sum + count),
    100,
  );
  for (const limiter of limiters) await limiter.close();
});

eachStore('concurrent requests do not exceed the limit', async (open) => {
  const limiter = aLimiter(manualClock(NOW), open());
  const buckets = [
    { name: 'address', perMinute: 40 },
    { name: 'token', perMinute: 25 },
  ];
  const verdicts = await Promise.all(Array.from({ length: 100 }, () => limiter.take(buckets)));
  assert.equal(verdicts.filter(({ allowed }) => allowed).length, 25);
  await limiter.close();
});

eachStore('a process returns its unspent tokens with its next lease', async (open) => {
  const clock = manualClock(NOW);
  const store = open();
  const limiter = aLimiter(clock, store);
  const bucket = { name: 'a', perMinute: 64 };
  // Leases 1, 2, 4 and 8 tokens, of which 7 stay unspent.
  assert.equal(await countAllowed(limiter, bucket, 8), 8);
  clock.advance(5);
  assert.equal(await countAllowed(limiter, bucket, 100), 56);
  await limiter.close();
});

eachStore('counts from before a clock correction are removed', async (open) => {
  const clock = manualClock(NOW + 400 * 86_400);
  const bucket = { name: 'a', perMinute: 5 };
  const before = aLimiter(clock, open());
  assert.equal(await countAllowed(before, bucket, 10), 5);
  clock.advance(-400 * 86_400);
  const after = aLimiter(clock, open());
  assert.equal(await countAllowed(after, bucket, 10), 5);
  await before.close();
  await after.close();
});

eachStore('leases that are asked for together are each counted', async (open) => {
  const limiter = aLimiter(manualClock(NOW), open());
  const buckets = Array.from({ length: 120 }, (_, index) => ({ name: `address ${index}`, perMinute: 1 + (index % 3) }));
  const takeAll = () => Promise.all(buckets.map((bucket) => limiter.take([bucket])));
  const allowed = (verdicts: readonly Verdict[]) => verdicts.filter((verdict) => verdict.allowed).length;
  const rounds = [
    allowed(await takeAll()),
    allowed(await takeAll()),
    allowed(await takeAll()),
    allowed(await takeAll()),
  ];
  assert.deepEqual(rounds, [120, 80, 40, 0]);
  await limiter.close();
});

eachDatabase('new counts remove stale ones from PostgreSQL', [platformSchema], async ({ db }) => {
  if (db.dialect !== 'postgres') return;
  const clock = manualClock(NOW);
  const limiter = aLimiter(clock, postgresStore(db));
  for (let bucket = 0; bucket < 20; bucket += 1) await limiter.take([{ name: `old ${bucket}`, perMinute: 5 }]);
  clock.advance(200);
  for (let bucket = 0; bucket < 10; bucket += 1) await limiter.take([{ name: `new ${bucket}`, perMinute: 5 }]);
  const count = { text: '', postgres: 'select count(*) as count from limit_slots' };
  assert.deepEqual(await db.first(count, []), { count: 10 });
});

test('new counts remove stale ones from SQLite', async (t) => {
  const file = join(aFolder(t), 'limits.sqlite');
  const clock = manualClock(NOW);
  const limiter = aLimiter(clock, sqliteStore(file));
  const takeFrom = (age: string, buckets: number) =>
    Promise.all(Array.from({ length: buckets }, (_, bucket) => limiter.take([{ name: age + bucket, perMinute: 5 }])));
  await takeFrom('old', 20);
  clock.advance(200);
  await takeFrom('new', 10);
  const db = new DatabaseSync(file, { readOnly: true });
  assert.equal(db.prepare('select count(*) as count from limits').get()!['count'], 10);
  db.close();
  await limiter.close();
});

test('no minute allows more than the limit, whatever the processes and the clock do', () => {
  const step = fc.record({ advanceMs: fc.integer({ min: 0, max: 9_000 }), process: fc.nat(2), requests: fc.nat(12) });
  const property = fc.property(
    fc.integer({ min: 1, max: 40 }),
    fc.array(step, { maxLength: 120, size: 'max' }),
    (perMinute, steps) => {
      const clock = manualClock(NOW);
      const store = memoryStore();
      const limiters = [aLimiter(clock, store), aLimiter(clock, store), aLimiter(clock, store)];
      const buckets = [{ name: 'a', perMinute }];
      const allowedAt: number[] = [];
      for (const { advanceMs, process, requests } of steps) {
        clock.advance(advanceMs / 1000);
        for (let request = 0; request < requests; request += 1) {
          const limiter = limiters[process]!;
          if (limiter.tryTake(buckets) || (limiter.take(buckets) as Verdict).allowed) allowedAt.push(clock.millis());
        }
      }
      allowedAt.forEach((last, index) => {
        const first = allowedAt[index - perMinute];
        assert.ok(first === undefined || last - first >= 60_000, `${perMinute + 1} within ${last - first!} ms`);
      });
    },
  );
  fc.assert(property, { numRuns: 500 });
});

test('one process allows a steady rate up to the limit', () => {
  const clock = manualClock(NOW);
  const limiter = aLimiter(clock);
  const buckets = [{ name: 'a', perMinute: 60 }];
  for (let request = 0; request < 600; request += 1) {
    assert.equal(limiter.tryTake(buckets) || (limiter.take(buckets) as Verdict).allowed, true, `request ${request}`);
    // Thirteen slots count, so the steady rate is 60 in 65 seconds.
    clock.advance(1.084);
  }
});

test('a refused bucket leaves the others unchanged', () => {
  const limiter = aLimiter(manualClock(NOW));
  const plenty = { name: 'plenty', perMinute: 10 };
  const scarce = { name: 'scarce', perMinute: 1 };
  assert.deepEqual(limiter.take([plenty, scarce]), { allowed: true });
  for (let again = 0; again < 50; again += 1) assert.equal(refused(limiter.take([plenty, scarce])).bucket, scarce);
  for (let rest = 0; rest < 9; rest += 1) assert.deepEqual(limiter.take([plenty]), { allowed: true });
  assert.equal(refused(limiter.take([scarce, plenty])).bucket, scarce);
  assert.equal(refused(limiter.take([plenty, scarce])).bucket, plenty);
});

test('a bucket that is listed twice gives two tokens or none', () => {
  const limiter = aLimiter(manualClock(NOW));
  const bucket = { name: 'a', perMinute: 5 };
  assert.deepEqual(
    [1, 2, 3].map(() => (limiter.take([bucket, bucket]) as Verdict).allowed),
    [true, true, false],
  );
  assert.deepEqual(limiter.take([bucket]), { allowed: true });
  assert.equal(refused(limiter.take([bucket])).allowed, false);
});

test('Infinity means no limit, and 0 allows nothing', () => {
  const limiter = aLimiter(manualClock(NOW));
  assert.equal(limiter.tryTake([{ name: 'game', perMinute: Number.POSITIVE_INFINITY }]), true);
  assert.equal(refused(limiter.take([{ name: 'closed', perMinute: 0 }])).retryAfterSeconds, 65);
});

/** Counts its calls, and fails on demand. */
function aFragileStore() {
  const inner = memoryStore();
  const store = {
    asked: 0,
    broken: false,
    lease(request: Parameters<LimitStore['lease']>[0]) {
      store.asked += 1;
      if (store.broken) throw new Error('the database is down');
      return inner.lease(request);
    },
    close: async () => {},
  };
  return store;
}

test('the limiter calls the store once per chunk, and not at all for a bucket that is known to be empty', () => {
  const store = aFragileStore();
  const limiter = aLimiter(manualClock(NOW), store);
  const buckets = [{ name: 'a', perMinute: 1000 }];
  for (let request = 0; request < 1000; request += 1) assert.ok(limiter.tryTake(buckets) || limiter.take(buckets));
  assert.ok(store.asked <= 25, `${store.asked} leases for 1000 requests`);
  void limiter.take(buckets);
  const asked = store.asked;
  for (let request = 0; request < 100; request += 1) assert.ok(refused(limiter.take(buckets)));
  assert.equal(store.asked, asked);
});

async function outage(clock: ManualClock) {
  const store = aFragileStore();
  const lines: string[] = [];
  const limiter = createLimiter({
    store,
    clock,
    log: createLog('warn', (text) => void lines.push(text)),
    bucketsMax: 50,
  });
  return { store, limiter, lines };
}

test('without its store a process enforces the limit by itself, including what it allowed before', async () => {
  const clock = manualClock(NOW);
  const { store, limiter } = await outage(clock);
  const bucket = { name: 'a', perMinute: 30 };
  assert.equal(await countAllowed(limiter, bucket, 10), 10);
  store.broken = true;
  assert.equal(await countAllowed(limiter, bucket, 100), 20);
  clock.advance(10);
  store.broken = false;
  assert.equal(await countAllowed(limiter, bucket, 100), 0);
  clock.advance(55);
  assert.equal(await countAllowed(limiter, bucket, 100), 30);
});

test('after a failure the limiter does not call the store for a second, and logs once a minute', async () => {
  const clock = manualClock(NOW);
  const log: string[] = [];
  const store = aFragileStore();
  store.broken = true;
  const quiet = { ...silent, warn: (message: string) => void log.push(message) };
  const limiter = createLimiter({ store, clock, log: quiet });
  await countAllowed(limiter, { name: 'a', perMinute: 600 }, 600);
  assert.deepEqual([store.asked, log.length], [1, 1]);
  clock.advance(59);
  await countAllowed(limiter, { name: 'b', perMinute: 600 }, 600);
  assert.deepEqual([store.asked, log.length], [2, 1]);
  clock.advance(1);
  await countAllowed(limiter, { name: 'c', perMinute: 600 }, 600);
  assert.deepEqual([store.asked, log.length], [3, 2]);
});

test('the limiter does not wait for a store that does not respond', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const store: LimitStore = { lease: () => new Promise(() => {}), close: async () => {} };
  const verdict = aLimiter(manualClock(NOW), store).take([{ name: 'a', perMinute: 5 }]);
  t.mock.timers.tick(1_000);
  assert.deepEqual(await verdict, { allowed: true });
});

test('a clock jump in either direction gives no process more than the limit', async () => {
  for (const jump of [3600, -3600, 7, -7, 400 * 86_400, -400 * 86_400]) {
    const day = manualClock(NOW);
    const monotonic = manualClock(NOW);
    const clock: Clock = { now: day.now, millis: day.millis, monotonicMs: monotonic.monotonicMs };
    const limiter = aLimiter(clock);
    const bucket = { name: 'a', perMinute: 20 };
    assert.equal(await countAllowed(limiter, bucket, 15), 15);
    day.advance(jump);
    const rest = await countAllowed(limiter, bucket, 100);
    assert.ok(rest <= 5, `${rest} after ${jump}`);
    // The window continues to slide after the jump.
    monotonic.advance(80);
    day.advance(80);
    assert.equal(await countAllowed(limiter, bucket, 100), 20, `after ${jump}`);
  }
});

test('buckets beyond the maximum, and idle ones, are removed', async () => {
  const clock = manualClock(NOW);
  const { limiter, store } = await outage(clock);
  for (let bucket = 0; bucket < 200; bucket += 1) await isAllowed(limiter, { name: `${bucket}`, perMinute: 5 });
  store.broken = true;
  // The first bucket was removed, so its own share is unknown; the last one is still known.
  assert.equal(await countAllowed(limiter, { name: '199', perMinute: 5 }, 10), 4);
  assert.equal(await countAllowed(limiter, { name: '0', perMinute: 5 }, 10), 5);
});

test('a broken limits file is replaced', async (t) => {
  const file = join(aFolder(t), 'limits.sqlite');
  writeFileSync(file, 'this is no database'.repeat(1000));
  const store = sqliteStore(file);
  assert.deepEqual(await store.lease({ bucket: 'a', slot: 1, limit: 5, want: 1, unspent: 0, unspentSlot: 0 }), {
    granted: 1,
    freesAt: 1,
  });
  await store.close();
});

const BUCKETS = 200;
const PER_MINUTE = 50;

/** Takes more than the limit of each bucket with a manual clock, and reports how much was allowed. */
function takerProgram(file: string): string {
  const url = (path: string) => JSON.stringify(new URL(path, import.meta.url).href);
  return `
    import { once } from 'node:events';
    import { manualClock } from ${url('../runtime/clock.ts')};
    import { createLog } from ${url('../runtime/log.ts')};
    import { createLimiter } from ${url('./limits.ts')};
    import { sqliteStore } from ${url('./sqlite.ts')};
    const log = createLog('warn', (text) => process.stderr.write(text));
    const limiter = createLimiter({ store: sqliteStore(${JSON.stringify(file)}), clock: manualClock(${NOW}), log });
    const allowed = Array(${BUCKETS}).fill(0);
    process.send('ready');
    for (let turn = 0; turn < 2; turn += 1) {
      const [requests] = await once(process, 'message');
      for (let request = 0; request < requests; request += 1) {
        for (let bucket = 0; bucket < ${BUCKETS}; bucket += 1) {
          const buckets = [{ name: 'address', perMinute: Infinity }, { name: 'token ' + bucket, perMinute: ${PER_MINUTE} }];
          if (limiter.tryTake(buckets) || (await limiter.take(buckets)).allowed) allowed[bucket] += 1;
        }
      }
      process.send(allowed);
    }
    await limiter.close();
    process.disconnect();`;
}

function aTaker(program: string) {
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ready = once(child, 'message');
  return {
    ready,
    async take(requests: number): Promise<number[]> {
      const result = once(child, 'message');
      child.send(requests);
      return (await result)[0];
    },
  };
}

test('processes that share a limits file allow exactly the limit together', async (t) => {
  const program = takerProgram(join(aFolder(t), 'limits.sqlite'));
  const takers = [aTaker(program), aTaker(program)];
  await Promise.all(takers.map((taker) => taker.ready));
  // The limit leaves enough for both in the first turn, whichever runs first; it applies in the second turn.
  const share = PER_MINUTE / 5;
  for (const count of await Promise.all(takers.map((taker) => taker.take(share))))
    assert.deepEqual(count, Array(BUCKETS).fill(share));
  const counts = await Promise.all(takers.map((taker) => taker.take(PER_MINUTE)));
  const sums = counts[0]!.map((count, bucket) => count + counts[1]![bucket]!);
  assert.deepEqual(sums, Array(BUCKETS).fill(PER_MINUTE));
});
