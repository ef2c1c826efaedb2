import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { eachDatabase } from '../../../test/databases.ts';
import type { Database } from '../database/database.ts';
import { manualClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import { seededRandom } from '../runtime/random.ts';
import { platformSchema } from '../schema.ts';
import { createJobs, type EnqueueOptions, type JsonValue, parkedJobs, retryParked } from './jobs.ts';
import { jobsScheduledOnce } from './migrations/2026-11-16-jobs-scheduled-once.ts';
import { addSchedule } from './store.ts';
import { createWorker, type JobHandler, type Worker } from './worker.ts';

const NOW = 1_800_000_000;

/** A queue with a manual clock, and workers that record their runs. */
function aQueue(db: Database) {
  const clock = manualClock(NOW);
  const jobs = createJobs({ clock });
  const ran: JsonValue[] = [];
  const logged: string[] = [];
  const log = createLog('info', (text) => logged.push(text));
  const random = seededRandom('jobs');
  const notes: JobHandler<unknown> = { kind: 'note', run: async (_app, payload) => void ran.push(payload) };
  return {
    clock,
    ran,
    logged: () => {
      log.flush();
      return logged.join('');
    },
    notes,
    add: (kind: string, payload: JsonValue, options?: EnqueueOptions) =>
      db.write((transaction) => jobs.enqueue(transaction, kind, payload, options)),
    worker: (handlers: JobHandler<unknown>[] = [notes], on = db, concurrency = 2): Worker =>
      createWorker({ app: {}, db: on, clock, random, log, handlers, concurrency }),
    rows: () => db.query.selectFrom('jobs').selectAll().orderBy('id').execute(),
  };
}

function test(
  name: string,
  run: (
    queue: ReturnType<typeof aQueue>,
    db: Database,
    again: () => Promise<Database>,
    t: TestContext,
  ) => Promise<void>,
) {
  eachDatabase(name, [platformSchema, jobsScheduledOnce], ({ db, again }, t) => run(aQueue(db), db, again, t));
}

/** A run that ends only on request, or never, like that of a killed worker. */
function aGate() {
  const begun = Promise.withResolvers<void>();
  const open = Promise.withResolvers<void>();
  const run = async () => {
    begun.resolve();
    await open.promise;
  };
  return { run, begun: begun.promise, open: () => open.resolve() };
}

test('a job runs once and is deleted after its success', async (queue) => {
  await queue.add('note', { mod: 7 });
  assert.equal(await queue.worker().runDue(), 1);
  assert.deepEqual(queue.ran, [{ mod: 7 }]);
  assert.deepEqual(await queue.rows(), []);
});

test('a job of a transaction that fails does not exist', async (queue, db) => {
  const jobs = createJobs({ clock: queue.clock });
  const failing = db.write(async (transaction) => {
    await jobs.enqueue(transaction, 'note', 1);
    throw new Error('changed my mind');
  });
  await assert.rejects(failing, /changed my mind/);
  assert.equal(await queue.worker().runDue(), 0);
});

test('a job with a start time waits until then', async (queue) => {
  await queue.add('note', 'later', { runAt: NOW + 60 });
  const worker = queue.worker();
  assert.equal(await worker.runDue(), 0);
  queue.clock.advance(60);
  assert.equal(await worker.runDue(), 1);
});

test('jobs that other jobs add run in the same round', async (queue) => {
  const worker = queue.worker([queue.notes, { kind: 'parent', run: () => queue.add('note', 'child') }]);
  await queue.add('parent', null);
  assert.equal(await worker.runDue(), 2);
  assert.deepEqual(queue.ran, ['child']);
});

test('only the first of several jobs with the same kind and key is added', async (queue) => {
  await queue.add('note', 'first', { key: 'mods/7' });
  await queue.add('note', 'second', { key: 'mods/7' });
  await queue.add('note', 'of another key', { key: 'mods/8' });
  await queue.add('note', 'without a key');
  await queue.add('note', 'without a key');
  await queue.worker(undefined, undefined, 1).runDue();
  assert.deepEqual(queue.ran, ['first', 'of another key', 'without a key', 'without a key']);
});

test('a job that is added while an equal one runs starts after it, so that no change is missed', async (queue) => {
  const gate = aGate();
  const first = queue.worker([{ kind: 'note', run: gate.run }]);
  await queue.add('note', 'before', { key: 'k' });
  const running = first.runDue();
  await gate.begun;
  await queue.add('note', 'meanwhile', { key: 'k' });
  assert.equal(await queue.worker().runDue(), 0);
  gate.open();
  assert.equal(await running, 2);
  assert.deepEqual(await queue.rows(), []);
});

test('no worker starts a job that an open transaction relies on', async (queue, db, again) => {
  // On SQLite a worker cannot write at all until the transaction has ended.
  if (db.dialect === 'sqlite') return;
  const jobs = createJobs({ clock: queue.clock });
  const worker = queue.worker(undefined, await again());
  await queue.add('note', 'first', { key: 'k' });
  await db.write(async (transaction) => {
    await jobs.enqueue(transaction, 'note', 'second', { key: 'k' });
    assert.equal(await worker.runDue(), 0);
  });
  assert.equal(await worker.runDue(), 1);
});

test('another worker runs the job of a dead worker after its lease has expired', async (queue, _db, again) => {
  const killed = aGate();
  const dying = queue.worker([{ kind: 'note', run: killed.run, leaseSeconds: 30 }], await again());
  await queue.add('note', 'survives');
  const never = dying.runDue();
  await killed.begun;
  const other = queue.worker();
  queue.clock.advance(29);
  assert.equal(await other.runDue(), 0);
  queue.clock.advance(1);
  assert.equal(await other.runDue(), 1);
  assert.deepEqual(queue.ran, ['survives']);
  killed.open();
  await never;
  assert.match(queue.logged(), /ran past its lease/);
});

test('a worker that returns after its lease has expired does not undo the work of its successor', async (queue) => {
  const late = aGate();
  const successor = aGate();
  await queue.add('note', 'once');
  const lateRun = queue.worker([{ kind: 'note', run: late.run }]).runDue();
  await late.begun;
  queue.clock.advance(60);
  const successorRun = queue.worker([{ kind: 'note', run: successor.run }]).runDue();
  await successor.begun;
  late.open();
  await lateRun;
  assert.deepEqual(
    (await queue.rows()).map(({ state, attempt }) => [state, attempt]),
    [['running', 2]],
  );
  successor.open();
  await successorRun;
  assert.deepEqual(await queue.rows(), []);
});

test('a heartbeat extends the lease of a long job', async (queue) => {
  const other = queue.worker();
  const worker = queue.worker([
    {
      kind: 'note',
      async run(_app, _payload, job) {
        queue.clock.advance(50);
        await job.heartbeat();
        queue.clock.advance(50);
        assert.equal(await other.runDue(), 0);
        queue.clock.advance(10);
        assert.equal(await other.runDue(), 1);
        await assert.rejects(job.heartbeat(), /passed to another worker/);
      },
    },
  ]);
  await queue.add('note', 'long');
  await worker.runDue();
  assert.deepEqual(queue.ran, ['long']);
});

test('a lease from before the clock was set back does not last for hours', async (queue) => {
  const killed = aGate();
  await queue.add('note', 'held');
  queue.clock.advance(3600);
  const never = queue.worker([{ kind: 'note', run: killed.run }]).runDue();
  await killed.begun;
  queue.clock.advance(-3600);
  assert.equal(await queue.worker().runDue(), 1);
  killed.open();
  await never;
});

test('a job that fails is retried with growing delays, and finally parked with its last error', async (queue, db) => {
  const waits: number[] = [];
  const worker = queue.worker([
    {
      kind: 'note',
      attemptsMax: 4,
      run: (_app, _payload, { attempt }) => Promise.reject(new Error(`failure ${attempt}`)),
    },
  ]);
  await queue.add('note', 'doomed');
  for (let attempt = 1; attempt <= 4; attempt += 1) {
    assert.equal(await worker.runDue(), 1);
    const [row] = await queue.rows();
    const wait = row!.date_due - queue.clock.now();
    if (row!.state === 'waiting') waits.push(wait);
    queue.clock.advance(Math.max(0, wait));
  }
  for (const [index, wait] of waits.entries()) {
    assert.ok(wait >= 2.5 * 2 ** index && wait <= 5 * 2 ** index, `${waits}`);
  }
  assert.equal(await worker.runDue(), 0);
  const [parked] = await parkedJobs(db);
  assert.deepEqual([parked!.kind, parked!.attempt, parked!.last_error], ['note', 4, 'Error: failure 4']);
  assert.match(queue.logged(), /"level":"error","message":"a job was parked"/);
});

test('an operator retries a parked job', async (queue, db) => {
  await queue.add('note', 'well in the end');
  await queue.worker([{ kind: 'note', attemptsMax: 1, run: () => Promise.reject(new Error('not yet')) }]).runDue();
  const [parked] = await parkedJobs(db);
  assert.equal(await retryParked(db, queue.clock, parked!.id), true);
  assert.equal(await retryParked(db, queue.clock, parked!.id), false);
  assert.equal(await queue.worker().runDue(), 1);
  assert.deepEqual(queue.ran, ['well in the end']);
});

test('a parked job is dropped if an equal one waits', async (queue, db) => {
  await queue.add('note', 'parked', { key: 'k' });
  await queue.worker([{ kind: 'note', attemptsMax: 1, run: () => Promise.reject(new Error('no')) }]).runDue();
  await queue.add('note', 'waiting', { key: 'k' });
  const [parked] = await parkedJobs(db);
  assert.equal(await retryParked(db, queue.clock, parked!.id), true);
  assert.equal(await queue.worker().runDue(), 1);
  assert.deepEqual([queue.ran, await queue.rows()], [['waiting'], []]);
});

test('a failed job is dropped if an equal one was added meanwhile', async (queue) => {
  const worker = queue.worker([
    {
      kind: 'note',
      async run(_app, payload) {
        if (payload !== 'first') return void queue.ran.push(payload);
        await queue.add('note', 'second', { key: 'k' });
        throw new Error('no');
      },
    },
  ]);
  await queue.add('note', 'first', { key: 'k' });
  assert.equal(await worker.runDue(), 2);
  assert.deepEqual([queue.ran, await queue.rows()], [['second'], []]);
});

test('jobs without a handler are parked and do not block others', async (queue, db) => {
  await queue.add('unheard of', 1);
  await queue.add('note', 'broken');
  await db.write(({ query }) => query.updateTable('jobs').set({ payload: '{' }).where('kind', '=', 'note').execute());
  await queue.add('note', 'sound');
  assert.equal(await queue.worker(undefined, undefined, 1).runDue(), 1);
  assert.deepEqual(queue.ran, ['sound']);
  const errors = (await parkedJobs(db)).map((job) => job.last_error);
  assert.deepEqual(errors, ['no handler for this kind', 'the payload is not JSON']);
});

test('a job that an older worker did not know runs when a worker has its handler', async (queue, db) => {
  await queue.add('note', 'new kind');
  await queue.worker([]).runDue();
  assert.equal((await parkedJobs(db)).length, 1);
  await queue.worker().runDue();
  assert.deepEqual(queue.ran, ['new kind']);
});

test('a job that crashes every worker is parked, too', async (queue, db) => {
  const gates = [];
  await queue.add('note', 'deadly');
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const gate = aGate();
    gates.push({ gate, run: queue.worker([{ kind: 'note', attemptsMax: 2, run: gate.run }]).runDue() });
    await gate.begun;
    queue.clock.advance(60);
  }
  assert.equal(await queue.worker([{ ...queue.notes, attemptsMax: 2 }]).runDue(), 0);
  assert.match((await parkedJobs(db))[0]!.last_error!, /its worker ended/);
  for (const { gate, run } of gates) {
    gate.open();
    await run;
  }
});

test('a scheduled job exists once, however many workers there are, and each run happens once', async (queue, _db, again) => {
  const runs: number[] = [];
  const hourly = { kind: 'hourly', every: 3600, run: async () => void runs.push(queue.clock.now()) };
  const workers = [queue.worker([hourly]), queue.worker([hourly], await again())];
  const round = () => Promise.all(workers.map((worker) => worker.runDue()));
  await round();
  assert.equal(runs.length, 1);
  queue.clock.advance(3599);
  await round();
  assert.equal(runs.length, 1);
  queue.clock.advance(1);
  await round();
  assert.equal(runs.length, 2);
  assert.deepEqual(
    (await queue.rows()).map((row) => [row.state, row.date_due]),
    [['waiting', NOW + 7200]],
  );
});

test('a process that looked before another added the scheduled job adds no second one while it runs', async (queue, db) => {
  const gate = aGate();
  const worker = queue.worker([{ kind: 'hourly', every: 3600, run: gate.run }]);
  const running = worker.runDue();
  await gate.begun;
  await db.write(({ query }) => addSchedule(query, 'hourly', NOW));
  gate.open();
  assert.equal(await running, 1);
  assert.deepEqual(
    (await queue.rows()).map((row) => [row.state, row.date_due]),
    [['waiting', NOW + 3600]],
  );
});

test('a scheduled job that fails keeps its schedule', async (queue) => {
  const worker = queue.worker([
    { kind: 'hourly', every: 3600, attemptsMax: 1, run: () => Promise.reject(new Error('no')) },
  ]);
  await worker.runDue();
  assert.deepEqual(
    (await queue.rows()).map((row) => [row.state, row.date_due]),
    [['waiting', NOW + 3600]],
  );
  assert.match(queue.logged(), /"level":"error"/);
});

test('a schedule recovers from a clock that was far ahead', async (queue) => {
  const runs: number[] = [];
  const worker = queue.worker([{ kind: 'hourly', every: 3600, run: async () => void runs.push(queue.clock.now()) }]);
  queue.clock.advance(400 * 86_400);
  await worker.runDue();
  queue.clock.advance(-400 * 86_400);
  await worker.runDue();
  queue.clock.advance(3600);
  await worker.runDue();
  assert.equal(runs.length, 2);
});

test('two workers share many jobs, and each job runs once', async (queue, _db, again) => {
  for (let job = 0; job < 40; job += 1) await queue.add('note', job);
  const workers = [queue.worker(), queue.worker(undefined, await again())];
  const runs = await Promise.all(workers.map((worker) => worker.runDue()));
  assert.equal(runs[0]! + runs[1]!, 40);
  assert.deepEqual(
    queue.ran.toSorted((a, b) => Number(a) - Number(b)),
    Array.from({ length: 40 }, (_, job) => job),
  );
});

test('a started worker runs a job as soon as its transaction has committed', async (queue) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const worker = queue.worker([{ kind: 'note', run: async () => resolve() }]);
  worker.start();
  await queue.add('note', 1);
  await promise;
  await worker.stop();
  assert.deepEqual(await queue.rows(), []);
});

test('stopping lets a running job finish and starts no other', async (queue) => {
  const gate = aGate();
  const worker = queue.worker([{ kind: 'note', run: gate.run }], undefined, 1);
  await queue.add('note', 'running');
  await queue.add('note', 'waiting');
  worker.start();
  await gate.begun;
  const stopped = worker.stop();
  gate.open();
  await stopped;
  assert.deepEqual(
    (await queue.rows()).map((row) => [row.payload, row.state]),
    [['"waiting"', 'waiting']],
  );
});

test('a continuous job that folded in many rows rests for two polls', async (queue, _db, _again, t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  let runs = 0;
  const folding = { kind: 'fold', continuous: true, run: async () => ({ rows: ++runs === 1 ? 200 : 199 }) };
  const worker = queue.worker([folding]);
  worker.start();
  const runsByPoll: number[] = [];
  for (let poll = 0; poll < 6; poll += 1) {
    await new Promise((turn) => setImmediate(turn));
    runsByPoll.push(runs);
    t.mock.timers.tick(1_000);
  }
  await worker.stop();
  assert.deepEqual(runsByPoll, [1, 1, 1, 2, 3, 4]);
});
