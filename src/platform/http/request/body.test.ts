// Runs alone: it measures the CPU time of its thread.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import fc from 'fast-check';
import { leastCpuMs, relativeCpuTime } from '../../../../test/cpu-time.ts';
import { ApiError } from '../../errors/catalogue.ts';
import { bytesText, contentTypeOf, readText } from './body.ts';

const parts = (header: string | undefined) => {
  const found = contentTypeOf(header);
  return found && { type: found.type, parameters: { ...found.parameters } };
};

test('a body is joined before it is decoded, loses its byte order mark, and bad bytes are replaced', async () => {
  const bytes = Buffer.from('\uFEFFGrüße 🎮');
  const chunks = [...bytes].map((byte) => Buffer.from([byte]));
  assert.equal(await readText(Readable.from([...chunks, Buffer.from([0xff])]), 100), 'Grüße 🎮\ud800');
  assert.equal(await readText(Readable.from([]), 0), '');
});

test('a body over its limit is refused, and its stream stays open for the response', async () => {
  const stream = new Readable({ read() {} });
  stream.push('12345');
  await assert.rejects(readText(stream, 4), (error) => {
    assert.ok(error instanceof ApiError);
    assert.deepEqual(error.fields, [{ field: 'body', rule: 'body_max', values: { max: '4 bytes' } }]);
    return error.error === 'VALIDATION_GENERIC';
  });
  assert.equal(stream.destroyed, false);
  assert.equal(await readText(Readable.from(['1234']), 4), '1234');
});

test('an aborted body is an error, not half a text', async () => {
  const stream = new Readable({ read() {} });
  stream.push('half');
  setImmediate(() => stream.destroy());
  await assert.rejects(readText(stream, 10));
});

test('content types are parsed leniently', () => {
  assert.deepEqual(parts('Application/JSON; Charset=UTF-8'), {
    type: 'application/json',
    parameters: { charset: 'UTF-8' },
  });
  assert.deepEqual(parts('multipart/form-data;boundary="27 \\"94"'), {
    type: 'multipart/form-data',
    parameters: { boundary: '27 "94' },
  });
  assert.deepEqual(parts(' text/plain ;; a = b ; a=c; d'), { type: 'text/plain', parameters: { a: 'b' } });
  assert.deepEqual(parts('text/plain; __proto__=x')?.type, 'text/plain');
});

test('a text that is no content type is undefined', () => {
  for (const header of [undefined, '', ' ', 'json', 'a/b c', '/', ';a=b', 'text/plain, text/html']) {
    assert.equal(contentTypeOf(header), undefined, `${header}`);
  }
});

test('no header makes the parser throw or take long', async () => {
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => void contentTypeOf(`a/b;${text}`)));
  const bound = 500 * relativeCpuTime();
  for (const piece of ['; ', ';a="\\"', ' ', ';a=']) {
    const header = `a/b;${piece.repeat(100_000)}`;
    assert.ok((await leastCpuMs(bound, async () => void contentTypeOf(header))) < bound, piece);
  }
});

test('sizes are formatted in the largest unit that fits', () => {
  const sizes = [0, 1, 1023, 1024, 1536, 8 * 1024 ** 2, 5 * 1024 ** 3, 2 * 1024 ** 4];
  assert.deepEqual(sizes.map(bytesText), [
    '0 bytes',
    '1 bytes',
    '1023 bytes',
    '1 KB',
    '1.5 KB',
    '8 MB',
    '5 GB',
    '2048 GB',
  ]);
});
