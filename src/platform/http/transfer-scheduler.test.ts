import assert from 'node:assert/strict';
import { after, beforeEach, mock, test } from 'node:test';
import { TransferScheduler } from './transfer-scheduler.ts';

after(() => mock.timers.reset());

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

let now: number;
let idle: number;
/** Counted by each test for itself, because chunks of the test before may still move. */
let moved: { count: number };
let naps: { count: number };
let msPerTick: number;
let way: TransferScheduler;

beforeEach(() => {
  // Pauses end only when a test ends them.
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  [now, idle, msPerTick] = [5_000, 0, 1];
  const own = { count: 0 };
  naps = own;
  moved = { count: 0 };
  way = new TransferScheduler({ now: () => now, idle: () => idle, nap: () => (own.count += 1) });
});

/** Advances the event loop by ticks, with this share of idle time. */
async function turn(times: number, idleShare: number): Promise<number> {
  const before = moved.count;
  for (let i = 0; i < times; i += 1) {
    now += msPerTick;
    idle += idleShare * msPerTick;
    await nextTurn();
  }
  return moved.count - before;
}

function havePiecesWait(count: number): void {
  const own = moved;
  for (let i = 0; i < count; i += 1) way.schedule(() => (own.count += 1));
}

test('without requests a chunk moves in each tick, however busy the event loop is', async () => {
  havePiecesWait(100);
  assert.equal(await turn(50, 0), 50);
  assert.equal(await turn(50, 0), 50);
});

test('while requests arrive, chunks pause if the event loop is mostly busy', async () => {
  havePiecesWait(100);
  way.noteRequest(now);
  assert.equal(await turn(20, 0.3), 1);
  mock.timers.tick(1);
  assert.equal(await turn(20, 0.3), 4);
  mock.timers.tick(1);
  assert.equal(await turn(20, 0.3), 4);
});

test('while requests arrive, no chunk pauses if the event loop is mostly idle', async () => {
  havePiecesWait(100);
  way.noteRequest(now);
  assert.equal(await turn(50, 0.75), 50);
});

test('idle time without chunks is not saved for later', async () => {
  way.noteRequest(now);
  havePiecesWait(1);
  await turn(900, 1);
  havePiecesWait(100);
  assert.equal(await turn(20, 0.3), 1);
});

test('a second after the last request no chunk pauses any more', async () => {
  havePiecesWait(100);
  way.noteRequest(now);
  now += 1_001;
  assert.equal(await turn(50, 0), 50);
});

test('without requests naps come between chunks, but not more often than is needed', async () => {
  havePiecesWait(20);
  assert.equal(await turn(10, 0), 10);
  assert.equal(naps.count, 10);
  msPerTick = 0.125;
  assert.equal(await turn(10, 0), 10);
  assert.equal(naps.count, 15);
});

test('while requests arrive, no chunk naps: requests would wait, too', async () => {
  havePiecesWait(3);
  way.noteRequest(now);
  await turn(3, 0);
  mock.timers.tick(1);
  await turn(3, 0);
  assert.deepEqual([moved.count, naps.count], [3, 0]);
});

test('chunks move in the order of their arrival, even across pauses', async () => {
  const order: number[] = [];
  for (let i = 0; i < 6; i += 1) way.schedule(() => order.push(i));
  way.noteRequest(now);
  await turn(10, 0);
  mock.timers.tick(1);
  await turn(10, 0);
  mock.timers.tick(1);
  await turn(10, 0);
  assert.deepEqual(order, [0, 1, 2, 3, 4, 5]);
});

test('transfers count as active for a moment after a chunk has moved', async () => {
  assert.equal(way.isTransferring, false);
  havePiecesWait(1);
  await turn(1, 0);
  assert.equal(way.isTransferring, true);
  now += 101;
  assert.equal(way.isTransferring, false);
});
