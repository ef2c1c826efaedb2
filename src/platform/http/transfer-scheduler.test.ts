import assert from 'node:assert/strict';
import { after, beforeEach, mock, test } from 'node:test';
import { TransferScheduler } from './transfer-scheduler.ts';

after(() => mock.timers.reset());

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

let now: number;
let idle: number;
let moved: number;
let way: TransferScheduler;

beforeEach(() => {
  // Pauses end only when a test ends them.
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  [now, idle, moved] = [5_000, 0, 0];
  way = new TransferScheduler({ now: () => now, idle: () => idle });
});

/** Advances the event loop by ticks of a millisecond, with this share of idle time. */
async function turn(times: number, idleShare: number): Promise<number> {
  const before = moved;
  for (let i = 0; i < times; i += 1) {
    now += 1;
    idle += idleShare;
    await nextTurn();
  }
  return moved - before;
}

function havePiecesWait(count: number): void {
  for (let i = 0; i < count; i += 1) way.schedule(() => (moved += 1));
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
