import assert from 'node:assert/strict';
import { eachDatabase } from '../../../test/databases.ts';
import type { Database } from '../database/database.ts';
import { manualClock } from '../runtime/clock.ts';
import { createLog } from '../runtime/log.ts';
import { seededRandom } from '../runtime/random.ts';
import { platformSchema } from '../schema.ts';
import { AgreedTime } from './agreed-time.ts';
import { jobsScheduledOnce } from './migrations/2026-11-16-jobs-scheduled-once.ts';
import { createWorker } from './worker.ts';

const NOW = 1_800_000_000;
const HOUR = 3_600;
const DAY = 24 * HOUR;

/** A process whose wall clock can be set, unlike its monotonic clock. */
function aProcess(db: Database, wall = manualClock(NOW), databaseTime?: () => Promise<number>) {
  let ahead = 0;
  const clock = { ...wall, now: () => wall.now() + ahead, millis: () => wall.millis() + ahead * 1_000 };
  const time = new AgreedTime({ db, clock, databaseTime });
  const due: number[] = [];
  const worker = createWorker({
    app: { clock },
    db,
    clock,
    random: seededRandom('agreed time'),
    log: createLog('error', () => {}),
    handlers: [{ kind: 'forget', every: 60, byAge: true, run: async (app) => void due.push(app.clock.now()) }],
    agreedTime: () => time.forDeletion(),
  });
  return {
    due,
    runs: () => worker.runDue(),
    pass: (seconds: number) => wall.advance(seconds),
    jump: (seconds: number) => {
      ahead += seconds;
    },
  };
}

function test(name: string, run: (db: Database) => Promise<void>) {
  eachDatabase(name, [platformSchema, jobsScheduledOnce], ({ db }) => run(db));
}

test('a jump of the clock by 400 days deletes nothing, and later everything goes on', async (db) => {
  const { due, runs, pass, jump } = aProcess(db);
  await runs();
  pass(HOUR);
  jump(400 * DAY);
  await runs();
  pass(12);
  await runs();
  jump(-400 * DAY);
  await runs();
  assert.deepEqual(due, [NOW]);
  pass(HOUR);
  await runs();
  assert.deepEqual(due, [NOW, NOW + 2 * HOUR + 12]);
});

test('a clock that stays ahead is believed after an hour, and deletes more only a day later', async (db) => {
  const { due, runs, pass, jump } = aProcess(db);
  await runs();
  jump(400 * DAY);
  await runs();
  pass(HOUR);
  await runs();
  assert.deepEqual(due, [NOW, NOW]);
  // Set right within the day: nothing was lost.
  jump(-400 * DAY);
  await runs();
  pass(HOUR);
  await runs();
  assert.ok(due.every((time) => time <= NOW + 2 * HOUR));
  for (const day of [1, 2]) {
    pass(DAY);
    await runs();
    assert.equal(due.at(-1), day === 1 ? NOW : NOW + 2 * DAY + 2 * HOUR);
  }
});

test('a process that starts with a wrong clock waits, because the others know the time', async (db) => {
  const first = aProcess(db);
  await first.runs();
  const late = aProcess(db);
  late.jump(30 * DAY);
  await late.runs();
  assert.deepEqual(late.due, []);
});

test("a process whose clock differs from the database's waits", async (db) => {
  const wall = manualClock(NOW);
  let databaseAhead = 0;
  const { due, runs } = aProcess(db, wall, async () => wall.now() + databaseAhead);
  databaseAhead = 120;
  await runs();
  assert.deepEqual(due, []);
  databaseAhead = 2;
  wall.advance(300);
  await runs();
  assert.deepEqual(due, [NOW + 300]);
});
