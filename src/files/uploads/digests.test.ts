import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { ApiError } from '../../platform/errors/catalogue.ts';
import { PART_BYTES } from '../../platform/storage/storage.ts';
import { expectedOf } from './digests.ts';
import { partOfRange } from './ranges.ts';

const refusal = (work: () => unknown) => {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error.ref;
    throw error;
  }
  return undefined;
};

test('CRC-32C matches RFC 3720, however the bytes are split', () => {
  const { checksum, value } = expectedOf('crc32c=e3069283')!;
  for (const piece of ['123', '456', '', '789']) checksum.update(Buffer.from(piece));
  assert.deepEqual(checksum.digest(), value);
  const zeros = expectedOf('crc32c=8a9136aa')!;
  zeros.checksum.update(Buffer.alloc(32));
  assert.deepEqual(zeros.checksum.digest(), zeros.value);
});

test('a digest can be in hexadecimal or base64, with its algorithm in any case', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (bytes) => {
      const value = Buffer.from(bytes);
      for (const text of [value.toString('hex'), value.toString('hex').toUpperCase(), value.toString('base64')])
        for (const name of ['sha-256', 'SHA-256', 'sha256'])
          assert.deepEqual(expectedOf(`${name}=${text}`)?.value, value);
      const short = value.subarray(0, 4);
      for (const text of [short.toString('hex'), short.toString('base64')])
        assert.deepEqual(expectedOf(` CRC32C = ${text} `)?.value, short);
    }),
  );
});

test('a header needs exactly one readable digest of a known algorithm', () => {
  const sha = createHash('sha256').digest('hex');
  assert.equal(expectedOf(undefined), undefined);
  assert.equal(expectedOf(' '), undefined);
  assert.equal(
    refusal(() => expectedOf(`sha-256=${sha}, crc32c=e3069283`)),
    29005,
  );
  for (const header of ['md5=abc', sha, 'constructor=1', '='])
    assert.equal(
      refusal(() => expectedOf(header)),
      29006,
    );
  for (const header of ['sha-256=', `sha-256=${sha}00`, 'crc32c=zzzzzzzz', 'crc32c=12345'])
    assert.equal(
      refusal(() => expectedOf(header)),
      29007,
      header,
    );
});

test('every part of a file is identified by its range, and no other range is accepted', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 20 * 1024 ** 3 }), fc.nat(), (total, any) => {
      const count = Math.ceil(total / PART_BYTES);
      const number = (any % count) + 1;
      const start = (number - 1) * PART_BYTES;
      const end = Math.min(start + PART_BYTES, total) - 1;
      assert.deepEqual(partOfRange(`bytes ${start}-${end}/${total}`, PART_BYTES), {
        number,
        start,
        bytes: end - start + 1,
        total,
      });
      assert.ok(refusal(() => partOfRange(`bytes ${start + 1}-${end}/${total}`, PART_BYTES)));
      assert.ok(refusal(() => partOfRange(`bytes ${start}-${end + 1}/${total}`, PART_BYTES)));
      if (end > start) assert.ok(refusal(() => partOfRange(`bytes ${start}-${end - 1}/${total}`, PART_BYTES)));
    }),
  );
});
