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
  // Pauses end only where a test says so.
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  [now, idle, moved] = [5_000, 0, 0];
  way = new TransferScheduler({ now: () => now, idle: () => idle });
});

/** Lets the event loop turn, each turn of a millisecond of which it is idle for a share. */
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

test('while nobody asks a piece moves in each turn, however busy the event loop is', async () => {
  havePiecesWait(100);
  assert.equal(await turn(50, 0), 50);
  assert.equal(await turn(50, 0), 50);
});

test('while somebody asks pieces pause where the event loop is busy for most of the time', async () => {
  havePiecesWait(100);
  way.noteRequest(now);
  assert.equal(await turn(20, 0.3), 1);
  mock.timers.tick(1);
  assert.equal(await turn(20, 0.3), 4);
  mock.timers.tick(1);
  assert.equal(await turn(20, 0.3), 4);
});

test('while somebody asks no piece pauses where the event loop is idle for most of the time', async () => {
  havePiecesWait(100);
  way.noteRequest(now);
  assert.equal(await turn(50, 0.75), 50);
});

test('time in which nothing moved is not made up for', async () => {
  way.noteRequest(now);
  havePiecesWait(1);
  await turn(900, 1);
  havePiecesWait(100);
  assert.equal(await turn(20, 0.3), 1);
});

test('a second after the last one asked nothing pauses any more', async () => {
  havePiecesWait(100);
  way.noteRequest(now);
  now += 1_001;
  assert.equal(await turn(50, 0), 50);
});

test('pieces move in the order in which they came, through pauses', async () => {
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

test('transfers are under way for a moment after a piece has moved', async () => {
  assert.equal(way.isTransferring, false);
  havePiecesWait(1);
  await turn(1, 0);
  assert.equal(way.isTransferring, true);
  now += 101;
  assert.equal(way.isTransferring, false);
});
