import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { Blocks } from './blocks.ts';
import { limited, readText } from './body.ts';
import { readMultipart } from './multipart.ts';

const sha256 = (...bytes: Uint8Array[]) => createHash('sha256').update(Buffer.concat(bytes)).digest('hex');

/** A reader that works on each block for a while, like a disk, and checks that the block has not changed. */
async function digestOf(blocks: AsyncIterable<Buffer>, turns: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const block of blocks) {
    const before = sha256(block);
    for (let i = 0; i < turns; i += 1) await turn();
    assert.equal(sha256(block), before, 'a block changed while it was lent');
    hash.update(block);
  }
  return hash.digest('hex');
}

/** Sends a body over a socket in chunks of these lengths, and returns the reader's result. */
async function received<T>(body: Buffer, cuts: readonly number[], type: string, read: (request: IncomingMessage) => T) {
  const found = Promise.withResolvers<Awaited<T>>();
  const server = createServer(async (request, response) => {
    await Promise.try(read, request).then(found.resolve, found.reject);
    response.end();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
    .setNoDelay()
    .resume();
  const head = `POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`;
  socket.write(head);
  for (let at = 0, cut = 0; at < body.length; cut += 1) {
    const length = cuts[cut % cuts.length]!;
    if (!socket.write(body.subarray(at, at + length))) await once(socket, 'drain');
    else if (cut % 3 === 0) await turn();
    at += length;
  }
  const answer = await found.promise;
  server.close();
  server.closeAllConnections();
  return answer;
}

const cutsOf = fc.array(fc.integer({ min: 1, max: 100_000 }), { minLength: 1, maxLength: 6 });
const RUNS = { numRuns: 60 };

test('a body is read as it was sent, whatever its chunks and however slow its reader is', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: 900_000 }), cutsOf, fc.integer({ min: 0, max: 3 }), async (...run) => {
      const [bytes, cuts, turns] = run;
      const body = randomBytes(bytes);
      const read = (request: IncomingMessage) => digestOf(limited(request, bytes), turns);
      assert.equal(await received(body, [20_000 + cuts[0]!, ...cuts], 'a/b', read), sha256(body));
    }),
    RUNS,
  );
});

const readers: Record<string, (request: IncomingMessage) => Promise<unknown>> = {
  blocks: (request) => digestOf(limited(request, 100), 0),
  text: (request) => readText(request, 100),
  form: (request) =>
    readMultipart(request, 'multipart/form-data; boundary=b', {
      files: {},
      fieldBytesMax: 100,
      onFile: async () => {},
    }),
};
for (const [name, read] of Object.entries(readers))
  test(`a body whose client disconnected before it was read ends early (${name})`, async () => {
    const result = Promise.withResolvers<unknown>();
    const server = createServer((request) => {
      request.once('close', () => Promise.try(read, request).then(result.resolve, result.reject));
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
    server.once('request', () => socket.destroy());
    socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\nhalf');
    await assert.rejects(result.promise, /ended early|FILE_UNREADABLE/);
    server.close();
  });

test('the files and texts of a form are read as they were sent', async () => {
  const boundary = 'b0undary';
  const header = (name: string, rest = '') =>
    Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${rest}\r\n\r\n`);
  const line = Buffer.from('\r\n');
  const lengths = fc.array(fc.constantFrom(0, 1, 10, 16_384, 65_536, 70_000, 400_000), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(lengths, cutsOf, fc.integer({ min: 0, max: 3 }), async (sizes, cuts, turns) => {
      // Prefixes of the boundary are hard for a parser.
      const files = sizes.map((size) => Buffer.concat([randomBytes(size), Buffer.from('\r\n--b0un\r\n')]));
      const parts = files.flatMap((file, i) => [
        ...[header('files', `; filename="${i}"`), file, line],
        ...[header(`text${i}`), Buffer.from(`${i}`.repeat(5_000)), line],
      ]);
      const body = Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)]);
      const type = `multipart/form-data; boundary=${boundary}`;
      const form = await received(body, [...cuts, 30_000], type, (request) =>
        readMultipart(request, type, {
          files: { files: { bytesMax: 1e9, many: true } },
          fieldBytesMax: 25_000,
          onFile: ({ bytes }) => digestOf(bytes, turns),
        }),
      );
      assert.deepEqual(
        form.files['files'] ?? [],
        files.map((file) => sha256(file)),
      );
      for (const i of files.keys()) assert.equal(form.fields[`text${i}`], `${i}`.repeat(5_000));
    }),
    RUNS,
  );
});

test('a stream that breaks off is an error, also for a later reader', async () => {
  const stream = new Readable({ read() {} });
  stream.push('some');
  const waiting = new Blocks(stream);
  const asked = waiting.next();
  stream.destroy();
  await assert.rejects(asked, /ended early/);
  const other = new Readable({ read() {} });
  const late = new Blocks(other);
  other.destroy(new Error('the line is cut'));
  await once(other, 'close').catch(() => {});
  await assert.rejects(late.next(), /the line is cut/);
});

test('a stream that is left stays open, and its reader ends', async () => {
  const stream = new Readable({ read() {} });
  const blocks = new Blocks(stream);
  const asked = blocks.next();
  blocks.leave();
  assert.deepEqual(await asked, { done: true, value: undefined });
  assert.equal(stream.destroyed, false);
  stream.destroy(new Error('nobody hears this'));
  await once(stream, 'close').catch(() => {});
});
