import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { ApiError } from '../../errors/catalogue.ts';
import { type FilePart, type MultipartOptions, readMultipart } from './multipart.ts';

type Stored = { filename: string; mimeType: string | undefined; text: string };

const header = 'multipart/form-data; boundary=b';
const text = (name: string, value: string) =>
  `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
const file = (name: string, value: string, type = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${name}.zip"\r\n${type}\r\n${value}\r\n`;
const end = '--b--\r\n';

async function stored({ filename, mimeType, bytes }: FilePart): Promise<Stored> {
  let whole = '';
  for await (const block of bytes) whole += block;
  return { filename, mimeType, text: whole };
}

const options = (changes: Partial<MultipartOptions<Stored>> = {}): MultipartOptions<Stored> => ({
  files: { logo: { bytesMax: 1_000 }, images: { bytesMax: 1_000, many: true } },
  fieldBytesMax: 1_000,
  onFile: stored,
  ...changes,
});

const inChunks = (body: string | Buffer, size: number): Readable => {
  const bytes = Buffer.from(body);
  const count = Math.ceil(bytes.length / size);
  return Readable.from(Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size)));
};

async function read(body: string, changes?: Partial<MultipartOptions<Stored>>, size = 7, type = header) {
  const { fields, files } = await readMultipart(inChunks(body, size), type, options(changes));
  return { fields: JSON.parse(JSON.stringify(fields)), files };
}

const refused = (work: Promise<unknown>, name: string) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof ApiError, String(error));
    assert.equal(error.error, name);
    return true;
  });

test('the texts of a form become fields, and its files go to onFile', async () => {
  const body =
    text('name', 'Mühle') +
    text('tags[]', 'a') +
    text('tags[]', 'b') +
    file('logo', 'PNG', 'Content-Type: image/png\r\n') +
    end;
  assert.deepEqual(await read(body), {
    fields: { name: 'Mühle', tags: ['a', 'b'] },
    files: { logo: [{ filename: 'logo.zip', mimeType: 'image/png', text: 'PNG' }] },
  });
});

test('the body of the C++ SDK is read in chunks of any size: quoted boundary, leading line, no types, no closing', async () => {
  const body = `\r\n${text('version', '1.0')}${file('logo', 'zip\r\n--\r\n')}--b\r\n`;
  for (let size = 1; size <= body.length; size += 1) {
    const { fields, files } = await read(body, {}, size, 'multipart/form-data; boundary="b"');
    assert.deepEqual(fields, { version: '1.0' });
    assert.deepEqual(files['logo'], [{ filename: 'logo.zip', mimeType: undefined, text: 'zip\r\n--\r\n' }]);
  }
});

test('an octet-stream part without a file name is a file', async () => {
  const body = `--b\r\nContent-Disposition: form-data; name="logo"\r\nContent-Type: application/octet-stream\r\n\r\nx\r\n${end}`;
  assert.equal((await read(body)).files['logo']?.[0]?.text, 'x');
});

test('input_json overrides plain fields', async () => {
  assert.deepEqual((await read(text('a', '1') + text('input_json', '{"a":2}') + end)).fields, { a: 2 });
  await refused(read(text('input_json', '{') + end), 'JSON_MALFORMED');
});

test('a body without bytes or without parts is an empty form', async () => {
  for (const body of ['', end, '--b--', '--b\r\n', '\r\n--b\r\n'])
    assert.deepEqual(await read(body), { fields: {}, files: {} });
});

test('a file field sent as text is refused', async () => {
  await refused(read(text('logo', 'not a file') + end), 'FILE_NOT_BINARY');
});

test('only a field for many files accepts a second one, also in list notation', async () => {
  await refused(read(file('logo', '1') + file('logo', '2') + end), 'FILE_TOO_MANY');
  const { files } = await read(file('images', '1') + file('images[]', '2') + file('images[7]', '3') + end);
  assert.deepEqual(
    files['images']?.map((one) => one.text),
    ['1', '2', '3'],
  );
});

test('a file may have its maximum size, but not one byte more', async () => {
  assert.equal((await read(file('logo', 'x'.repeat(1_000)) + end)).files['logo']?.[0]?.text.length, 1_000);
  const files = { logo: { bytesMax: 2 * 1024 } };
  await assert.rejects(read(file('logo', 'x'.repeat(2_049)) + end, { files }), (error) => {
    assert.deepEqual((error as ApiError).fields, [{ field: 'logo', rule: 'file_max', values: { max: '2 KB' } }]);
    return true;
  });
});

test('a text over its limit is refused', async () => {
  await refused(read(text('name', 'x'.repeat(1_001)) + end), 'VALIDATION_GENERIC');
});

test('files in undeclared fields are read and dropped', async () => {
  const body = file('constructor', 'x'.repeat(200_000)) + file('other', 'y') + text('a', '1') + end;
  assert.deepEqual(await read(body, {}, 1_000), { fields: { a: '1' }, files: {} });
});

test('a missing or unusable boundary is a wrong content type', async () => {
  const types = [
    'multipart/form-data',
    'multipart/form-data; boundary=',
    'text/plain; boundary=b',
    '',
    `multipart/form-data; boundary=${'b'.repeat(300)}`,
  ];
  for (const type of types) await refused(read(end, {}, 7, type), 'INCORRECT_CONTENT_TYPE');
});

test('a part with endless headers is refused at once', async () => {
  const body = `--b\r\nContent-Disposition: form-data; name="a"\r\n${file('images', 'x')}${end}`;
  await refused(read(body, {}, 1_000), 'FILE_UNREADABLE');
  const sizes = Array.from({ length: body.length }, (_, index) => index + 1);
  const settled = await Promise.allSettled(sizes.map((size) => read(body, {}, size)));
  assert.ok(settled.every((one) => one.status === 'fulfilled' || one.reason.error === 'FILE_UNREADABLE'));
});

test('a body cut at any byte is refused, unless the cut looks like the end of a C++ body', async () => {
  const body = text('name', 'x') + file('logo', 'PNG') + file('images', 'GIF') + end;
  const ends = /(^|\r\n)--b(\r\n|--(\r\n?)?)$/;
  for (let length = 1; length <= body.length; length += 1) {
    const cut = body.slice(0, length);
    let open = 0;
    const onFile = async (part: FilePart) => {
      open += 1;
      return stored(part).finally(() => {
        open -= 1;
      });
    };
    const reading = read(cut, { onFile }, 1 + (length % 9));
    if (ends.test(cut)) await reading;
    else await refused(reading, 'FILE_UNREADABLE');
    assert.equal(open, 0);
  }
});

test('an aborted request is unreadable, and so are its files', async () => {
  const source = new Readable({ read() {} });
  source.push(file('logo', 'x'.repeat(100)).slice(0, -10));
  let storing: Promise<Stored> | undefined;
  const onFile = (part: FilePart) => {
    storing = stored(part);
    return storing;
  };
  const reading = readMultipart(source, header, options({ onFile }));
  await turn();
  source.destroy(new Error('aborted'));
  await refused(reading, 'FILE_UNREADABLE');
  await assert.rejects(storing!);
});

test('when onFile fails, the reader throws its error after every other onFile has settled', async () => {
  const source = new Readable({ read() {} });
  source.push(file('images', 'first') + file('logo', 'second'));
  let settled = false;
  const failed = Promise.withResolvers<void>();
  const onFile = async (part: FilePart) => {
    if (part.field === 'logo') {
      failed.resolve();
      throw new Error('disk full');
    }
    await failed.promise;
    for (let turns = 0; turns < 10; turns += 1) await turn();
    settled = true;
    return stored(part);
  };
  await assert.rejects(readMultipart(source, header, options({ onFile })), /disk full/);
  assert.equal(settled, true);
  assert.equal(source.destroyed, false);
});

test('bytes that onFile leaves unread are drained', async () => {
  const body =
    file('images', 'x'.repeat(900_000)) + text('a', '1') + file('images', 'y'.repeat(900_000)) + text('b', '2') + end;
  const files = { images: { bytesMax: 1_000_000, many: true } };
  const ways: ((part: FilePart) => Promise<unknown>)[] = [
    async () => {},
    async ({ bytes }) => {
      for await (const _ of bytes) break;
    },
    async ({ bytes }) => {
      for await (const _ of bytes) break;
      await turn();
    },
    async ({ bytes }) => bytes[Symbol.asyncIterator]().next(),
    async ({ bytes }) => void bytes[Symbol.asyncIterator]().next(),
    async ({ bytes }) => {
      const reading = bytes[Symbol.asyncIterator]();
      await reading.next();
      void reading.next();
    },
  ];
  for (const way of ways) {
    for (const size of [1_000, 70_000, 4_000_000]) {
      const reading = readMultipart(inChunks(body, size), header, { files, fieldBytesMax: 10, onFile: way });
      assert.deepEqual({ ...(await reading).fields }, { a: '1', b: '2' });
    }
  }
});

test('a slow reader slows the body down, so that a file is never in memory as a whole', async () => {
  const chunk = Buffer.alloc(64 * 1024, 'x');
  let sent = 0;
  let ahead = 0;
  async function* body() {
    yield Buffer.from(file('logo', '').slice(0, -2));
    for (let index = 0; index < 500; index += 1) {
      sent += chunk.length;
      yield chunk;
    }
    yield Buffer.from(`\r\n${end}`);
  }
  const onFile = async ({ bytes }: FilePart) => {
    let taken = 0;
    for await (const piece of bytes) {
      taken += piece.length;
      ahead = Math.max(ahead, sent - taken);
      await turn();
    }
    return taken;
  };
  const files = { logo: { bytesMax: 1e9 } };
  const result = await readMultipart(Readable.from(body()), header, { files, fieldBytesMax: 1, onFile });
  assert.deepEqual(result.files['logo'], [500 * chunk.length]);
  assert.ok(ahead < 1_000_000, `${ahead} bytes ahead`);
});

test('ten thousand parts and huge part headers are handled', async () => {
  const fields = Array.from({ length: 10_000 }, (_, index) => text(`f${index}`, '1'));
  assert.equal(Object.keys((await read(fields.slice(0, 1_000).join('') + end, {}, 65_536)).fields).length, 1_000);
  await refused(read(fields.join('') + end, {}, 65_536), 'VALIDATION_GENERIC');
  await read(file('other', '').repeat(5_000) + end, {}, 65_536);
  await refused(read(file('other', '').repeat(10_000) + end, {}, 65_536), 'VALIDATION_GENERIC');
  await refused(read(file('images', '').repeat(10_000) + end, {}, 65_536), 'FILE_TOO_MANY');
  const headers = `--b\r\nX: ${'x'.repeat(1_000_000)}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n`;
  assert.deepEqual((await read(headers + text('c', '1') + end, {}, 65_536)).fields, { c: '1' });
  const many = `--b\r\n${'X: y\r\n'.repeat(10_000)}\r\n1\r\n`;
  assert.deepEqual((await read(many + text('c', '1') + end, {}, 65_536)).fields, { c: '1' });
});

test('bytes after the closing boundary are ignored', async () => {
  assert.deepEqual((await read(text('a', '1') + end + 'surplus '.repeat(100_000), {}, 65_536)).fields, { a: '1' });
});

test('no invalid input crashes or hangs the reader', async () => {
  const pieces = [
    '\r\n',
    '--b',
    '--',
    '--b--',
    '\r',
    '\n',
    '"',
    ';',
    text('a', '1'),
    text('logo', '1'),
    file('images', 'x'),
    file('logo', 'x'),
    file('other', 'x'),
    'Content-Disposition: form-data; name=',
    'Content-Type: ;charset=x',
    end,
  ];
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...pieces) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 12 }), fc.integer({ min: 1, max: 200 }), async (body, size) => {
      await read(body.join(''), {}, size).catch((error) => assert.ok(error instanceof ApiError, String(error)));
    }),
    { numRuns: 200 },
  );
});
