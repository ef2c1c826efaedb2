import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MessageReader } from './postgres-protocol.ts';

const message = fc.record({
  type: fc.integer({ min: 1, max: 255 }),
  body: fc.uint8Array({ maxLength: 40 }),
});

const encoded = ({ type, body }: { type: number; body: Uint8Array }) => {
  const head = Buffer.alloc(5);
  head[0] = type;
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
};

test('messages are the same however the network splits them', () => {
  fc.assert(
    fc.property(fc.array(message), fc.array(fc.integer({ min: 1, max: 30 })), (messages, sizes) => {
      const received: { type: number; body: Uint8Array }[] = [];
      const reader = new MessageReader((type, bytes, at, end) => {
        received.push({ type, body: Uint8Array.from(bytes.subarray(at, end)) });
      });
      let rest = Buffer.concat(messages.map(encoded));
      for (const size of sizes) {
        if (rest.length === 0) break;
        reader.read(rest.subarray(0, size));
        rest = rest.subarray(size);
      }
      if (rest.length > 0) reader.read(rest);
      assert.deepEqual(
        received,
        messages.map(({ type, body }) => ({ type, body: Uint8Array.from(body) })),
      );
    }),
  );
});
