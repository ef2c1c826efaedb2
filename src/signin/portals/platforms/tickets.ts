import { createDecipheriv, createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';

/** A ticket that cannot be read: made with another key, damaged, or no ticket. */
export class TicketError extends Error {}

/** The decrypted contents identify a ticket, because the outside can be changed without the key. */
const fingerprintOf = (plain: Buffer) => createHash('sha256').update(plain).digest('base64url');

export interface SteamTicket {
  readonly fingerprint: string;
  readonly steamId: string;
  readonly appId: number;
  readonly dateIssued: number;
  readonly dateExpires: number;
}

const BLOCK = 16;
const OWNERSHIP_BYTES = 40;
const SALT_BYTES = 8;
const SHA1_BYTES = 20;
/** The bytes between the ownership ticket and its checksum in version 2 of the format. */
const SECOND_VERSION_BYTES = 20;

/**
 * Steam’s encrypted app ticket: a protobuf message around AES-256-CBC, whose IV is a block of AES-256-ECB. It contains
 * the game’s data, the ownership ticket, and a salted SHA-1 over both; the CRC outside covers all of it.
 */
export function readSteamTicket(bytes: Buffer, key: Buffer): SteamTicket {
  try {
    const { numbers, encrypted } = readMessage(bytes);
    const plain = decryptSteam(encrypted, key);
    if (crc32(plain) !== numbers.get(2)) throw new TicketError('the checksum differs');
    const start = numbers.get(3) ?? 0;
    const end = start + plain.readUInt32LE(start);
    const ownership = plain.subarray(start, end);
    if (ownership.length < OWNERSHIP_BYTES || end > plain.length) throw new TicketError('too short');
    requireDigest(plain, end + (numbers.get(1) === 2 ? SECOND_VERSION_BYTES : 0));
    return {
      fingerprint: fingerprintOf(plain),
      steamId: ownership.readBigUInt64LE(8).toString(),
      appId: ownership.readUInt32LE(16),
      dateIssued: ownership.readUInt32LE(32),
      dateExpires: ownership.readUInt32LE(36),
    };
  } catch (cause) {
    throw new TicketError('not a ticket made with this key', { cause });
  }
}

function requireDigest(plain: Buffer, end: number): void {
  const salted = plain.subarray(0, end + SALT_BYTES);
  const digest = plain.subarray(end + SALT_BYTES, end + SALT_BYTES + SHA1_BYTES);
  if (!createHash('sha1').update(salted).digest().equals(digest)) throw new TicketError('the digest differs');
}

function decryptSteam(encrypted: Buffer, key: Buffer): Buffer {
  const ofIv = createDecipheriv('aes-256-ecb', key, null).setAutoPadding(false);
  const iv = Buffer.concat([ofIv.update(encrypted.subarray(0, BLOCK)), ofIv.final()]);
  const decipher = createDecipheriv('aes-256-cbc', key, iv);
  return Buffer.concat([decipher.update(encrypted.subarray(BLOCK)), decipher.final()]);
}

const ENCRYPTED_TICKET = 5;

/** The fields of the message that are used: numbers, and the encrypted ticket. */
function readMessage(bytes: Buffer): { numbers: Map<number, number>; encrypted: Buffer } {
  const numbers = new Map<number, number>();
  let encrypted: Buffer = Buffer.alloc(0);
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = bytes.readUInt8(at);
      at += 1;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new TicketError('an unterminated varint');
  };
  while (at < bytes.length) {
    const tag = varint();
    const value = varint();
    if ((tag & 7) === 0) numbers.set(tag >> 3, value);
    else if (tag === ENCRYPTED_TICKET * 8 + 2 && at + value <= bytes.length) {
      encrypted = bytes.subarray(at, at + value);
      at += value;
    } else throw new TicketError('an unknown field');
  }
  return { numbers, encrypted };
}

export interface GogTicket {
  readonly fingerprint: string;
  readonly userId: string;
  readonly clientId: string;
  readonly dateIssued: number;
}

/** GOG's encrypted app ticket: an IV and AES-256-CBC, padded with zeros, around a JSON list. */
export function readGogTicket(bytes: Buffer, key: Buffer): GogTicket {
  try {
    const decipher = createDecipheriv('aes-256-cbc', key, bytes.subarray(0, BLOCK)).setAutoPadding(false);
    const plain = Buffer.concat([decipher.update(bytes.subarray(BLOCK)), decipher.final()]).toString('utf8');
    const [userId, clientId, dateIssued] = JSON.parse(plain.replace(/\0+$/, '')) as unknown[];
    if (!isDigits(userId) || !isDigits(clientId) || !Number.isSafeInteger(dateIssued))
      throw new TicketError('unexpected contents of a ticket');
    const fingerprint = fingerprintOf(Buffer.from([userId, clientId, dateIssued].join(' ')));
    return { fingerprint, userId, clientId, dateIssued: dateIssued as number };
  } catch (cause) {
    throw new TicketError('not a ticket made with this key', { cause });
  }
}

const isDigits = (value: unknown): value is string => typeof value === 'string' && /^\d{1,20}$/.test(value);
