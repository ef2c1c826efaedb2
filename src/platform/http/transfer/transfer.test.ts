import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { seededRandom } from '../../runtime/random.ts';
import type { OpenObject } from '../../storage/storage.ts';
import { TransferScheduler } from '../transfer-scheduler.ts';
import { ChunkSender, ClientDisconnected, FixedLengthResponse } from './chunk-sender.ts';
import { createTransfers } from './transfer.ts';

const PIECE = 64 * 1024;
const MEGABYTE = 1024 * 1024;

/** A response whose client reads everything at once. */
function aReader(taken: () => void): ServerResponse {
  const take = (_piece: Buffer, done: () => void) => {
    taken();
    setImmediate(done);
  };
  return { destroyed: false, writableEnded: false, once() {}, off() {}, write: take, end: take } as never;
}

test('the first chunks of several transfers are sent at once, then one chunk per event-loop tick', async () => {
  const pump = new ChunkSender(new TransferScheduler());
  let inThisTurn = 0;
  let most = 0;
  let isOver = false;
  const turn = () => {
    most = Math.max(most, inThisTurn);
    inThisTurn = 0;
    if (!isOver) setImmediate(turn);
  };
  const sent = [0, 0, 0, 0];
  const sending = sent.map((_, reader) => {
    const answer = new FixedLengthResponse(
      aReader(() => {
        inThisTurn += 1;
        sent[reader]! += 1;
      }),
      1_000,
    );
    let left = 20;
    return pump.send(answer, () => (left-- > 0 ? Buffer.alloc(1) : undefined));
  });
  assert.deepEqual(sent, [1, 1, 1, 1]);
  inThisTurn = 0;
  setImmediate(turn);
  await Promise.all(sending);
  isOver = true;
  assert.deepEqual(sent, [20, 20, 20, 20]);
  assert.equal(most, 1);
});

test('a client whose connection breaks during a transfer counts as disconnected, not as a failure', async () => {
  const response = {
    destroyed: false,
    once() {},
    off() {},
    write: (_piece: Buffer, done: (error: Error) => void) => done(new Error('write ECONNRESET')),
    destroy() {
      this.destroyed = true;
    },
  };
  const answer = new FixedLengthResponse(response as never, 1_000);
  await assert.rejects(
    new ChunkSender(new TransferScheduler()).send(answer, () => Buffer.alloc(1)),
    ClientDisconnected,
  );
  assert.equal(response.destroyed, true);
});

/** An object whose reads are instant, or slow if a test says so, and which records its reads. */
function anObject(content: Buffer, slow: (position: number) => boolean = () => false) {
  const reads = { now: [] as number[], waiting: [] as number[] };
  const copy = (buffer: Uint8Array, position: number) => content.copy(buffer, 0, position, position + buffer.length);
  const opened: OpenObject = {
    bytes: content.length,
    dateModified: 0,
    version: '1',
    readBytes: 4 * PIECE,
    readInto: async (buffer, position) => {
      reads.waiting.push(position);
      return copy(buffer, position);
    },
    readNow: (buffer, position) => {
      reads.now.push(position);
      if (slow(position)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
      return copy(buffer, position);
    },
    digest: async () => 'right',
    close: async () => {},
  };
  return { opened, reads };
}

async function sentOf(opened: OpenObject, diskReads = () => 0): Promise<Buffer> {
  const transfers = createTransfers(seededRandom('transfers'), diskReads);
  const server = createServer((request, response) =>
    transfers.send(request, response, {
      opened,
      etag: '"1"',
      dateModified: 0,
      type: 'a/b',
      headers: [],
      sha256: 'right',
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
  const [response] = await once(request, 'response');
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  server.close();
  return Buffer.concat(chunks);
}

const content = Buffer.alloc(5 * MEGABYTE + 1);
for (let i = 0; i < content.length; i += 1) content[i] = (i * 31 + (i >> 8)) & 0xff;

test('a verified object is read from the page cache in chunks, without threads', async () => {
  const { opened, reads } = anObject(content);
  await sentOf(opened);
  assert.ok((await sentOf(opened)).equals(content));
  assert.ok(reads.now.length > 0);
  assert.ok(reads.waiting.length <= 4, `${reads.waiting.length} reads of a thread`);
});

test('after a slow read the next reads use threads for a while, and the bytes are the same', async () => {
  let slow = -1;
  const { opened, reads } = anObject(content, (position) => {
    const isFirst = slow === -1;
    if (isFirst) slow = position;
    return isFirst;
  });
  assert.ok((await sentOf(opened, () => (slow === -1 ? 0 : 1))).equals(content));
  const next = reads.now.find((position) => position > slow) ?? content.length;
  assert.ok(next >= slow + MEGABYTE, `${slow}, then ${next}`);
  assert.ok(reads.waiting.some((position) => position > slow && position < next));
});

test('a process that is only interrupted during a read continues without threads', async () => {
  const { opened, reads } = anObject(content, (position) => position % MEGABYTE < PIECE);
  await sentOf(opened);
  assert.ok((await sentOf(opened)).equals(content));
  assert.ok(reads.waiting.length <= 4, `${reads.waiting.length} reads of a thread`);
});
