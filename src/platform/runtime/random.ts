import { createCipheriv, createHash, randomBytes } from 'node:crypto';

export interface Random {
  bytes(count: number): Buffer;
  /** Lower-case hexadecimal text of exactly this many characters. */
  hex(characters: number): string;
  /** A secret of 256 bits that is safe in URLs and headers. */
  token(): string;
  /** Text that users read and type, such as the security code of a sign-in mail. */
  code(length: number): string;
  uuid(): string;
}

// Without I, O, 0 and 1, which look alike. With 32 characters, five bits of a byte select one without bias.
const codeAlphabet = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';

function randomFrom(bytes: (count: number) => Buffer): Random {
  return {
    bytes,
    hex: (characters) =>
      bytes(Math.ceil(characters / 2))
        .toString('hex')
        .slice(0, characters),
    token: () => bytes(32).toString('base64url'),
    code: (length) => Array.from(bytes(length), (byte) => codeAlphabet[byte & 31]).join(''),
    uuid: () => toUuid(bytes(16)),
  };
}

/** Sets the version 4 and variant bits of RFC 9562. */
function toUuid(bytes: Buffer): string {
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

export const systemRandom: Random = randomFrom(randomBytes);

/** A seed yields the same sequence on every machine: for tests and demo content, never for secrets. */
export function seededRandom(seed: string | number): Random {
  const key = createHash('sha256').update(String(seed)).digest();
  const keystream = createCipheriv('aes-256-ctr', key, Buffer.alloc(16));
  return randomFrom((count) => keystream.update(Buffer.alloc(count)));
}
