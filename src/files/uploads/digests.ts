import { createHash } from 'node:crypto';
import { ApiError } from '../../platform/errors/catalogue.ts';

/** Computed while a part is received. */
interface Checksum {
  update(chunk: Uint8Array): void;
  /** Can be called once. */
  digest(): Buffer;
}

/** The checksum that the client sent for a part. */
export interface Expected {
  readonly checksum: Checksum;
  readonly value: Buffer;
}

const ALGORITHMS: Readonly<Record<string, { bytes: number; make: () => Checksum }>> = {
  'sha-256': { bytes: 32, make: () => createHash('sha256') },
  crc32c: { bytes: 4, make: crc32c },
};
const SPELLINGS: Readonly<Record<string, string>> = { sha256: 'sha-256', 'crc-32c': 'crc32c' };

/** Reads `sha-256=…` or `crc32c=…`, in hexadecimal or base64. Undefined without a header. */
export function expectedOf(header: string | undefined): Expected | undefined {
  const values = (header ?? '').split(',').filter((value) => value.trim() !== '');
  if (values.length === 0) return undefined;
  if (values.length > 1) throw new ApiError('MULTIPART_UPLOAD_TOO_MANY_DIGESTS');
  const [, name = '', text = ''] = /^\s*([^=]*?)\s*=\s*(.*?)\s*$/s.exec(values[0]!) ?? [];
  const spelt = name.toLowerCase();
  const known = SPELLINGS[spelt] ?? spelt;
  const algorithm = Object.hasOwn(ALGORITHMS, known) ? ALGORITHMS[known]! : undefined;
  if (!algorithm) throw new ApiError('MULTIPART_UPLOAD_INVALID_DIGEST_ALGO');
  const value = bytesOf(text, algorithm.bytes);
  if (!value) throw new ApiError('MULTIPART_UPLOAD_CHECKSUM_FAILED');
  return { checksum: algorithm.make(), value };
}

/** No value of these lengths is valid in both encodings, because the base64 form ends in `=`. */
function bytesOf(text: string, bytes: number): Buffer | undefined {
  if (new RegExp(`^[0-9a-f]{${bytes * 2}}$`, 'i').test(text)) return Buffer.from(text, 'hex');
  const isBase64 =
    /^[A-Za-z0-9+/_-]+={0,2}$/.test(text) && text.replace(/=+$/, '').length === Math.ceil((bytes * 4) / 3);
  return isBase64 ? Buffer.from(text, 'base64') : undefined;
}

const CASTAGNOLI = 0x82f63b78;
const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let value = byte;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ CASTAGNOLI : value >>> 1;
  return value >>> 0;
});

/** CRC-32C (RFC 3720), which Node.js does not provide. */
function crc32c(): Checksum {
  let value = 0xffffffff;
  return {
    update: (chunk) => {
      let next = value;
      for (let i = 0; i < chunk.length; i += 1) next = TABLE[(next ^ chunk[i]!) & 0xff]! ^ (next >>> 8);
      value = next;
    },
    digest: () => {
      const result = Buffer.alloc(4);
      result.writeUInt32BE((value ^ 0xffffffff) >>> 0);
      return result;
    },
  };
}
