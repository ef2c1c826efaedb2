import { crc32 } from 'node:zlib';
import { ArchiveProblem } from './problem.ts';

// The records of a zip file (PKWARE APPNOTE.TXT 6.3.10, section 4.3).

export const END_BYTES = 22;
export const END64_BYTES = 56;
export const LOCATOR_BYTES = 20;
export const CENTRAL_BYTES = 46;
export const LOCAL_BYTES = 30;

export const SIGNATURE = {
  local: 0x04034b50,
  descriptor: 0x08074b50,
  central: 0x02014b50,
  end64: 0x06064b50,
  locator: 0x07064b50,
  end: 0x06054b50,
} as const;

/** The value of a 16-bit or 32-bit field whose real value is in a zip64 record. */
export const IN_ZIP64_16 = 0xffff;
export const IN_ZIP64_32 = 0xffffffff;

export const FLAG = { encrypted: 0x2041, descriptor: 0x8, patched: 0x20, utf8: 0x800 } as const;
export const METHOD = { stored: 0, deflated: 8, aes: 99 } as const;
/** Version 6.3 is the latest of the format, and readers refuse a higher one. */
export const VERSION_MAX = 63;
/** The flags of the compression level, which readers ignore. */
export const FLAGS_OF_EFFORT = 0x6;

const EXTRA = { zip64: 0x0001, pkwareUnix: 0x000d, asiUnix: 0x756e, unicodePath: 0x7075, aes: 0x9901 } as const;
const PKWARE_UNIX_BYTES = 12;
const ASI_UNIX_LINK_AT = 6;

/** A 64-bit number. A value beyond the safe integers is wrong for any file here. */
export function readNumber64(buffer: Buffer, offset: number): number {
  const value = buffer.readBigUInt64LE(offset);
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw new ArchiveProblem('damaged');
  return Number(value);
}

export interface Extras {
  readonly zip64: Buffer | undefined;
  readonly encrypted: boolean;
  readonly link: boolean;
}

/** Reads the extra fields of an entry and refuses those that give it another name. */
export function readExtras(extra: Buffer, rawName: Buffer, entry: string): Extras {
  const found: { zip64: Buffer | undefined; encrypted: boolean; link: boolean } = {
    zip64: undefined,
    encrypted: false,
    link: false,
  };
  for (const [id, data] of fieldsOf(extra)) {
    if (id === EXTRA.zip64 && found.zip64) throw new ArchiveProblem('mismatch', { entry });
    if (id === EXTRA.zip64) found.zip64 = data;
    if (id === EXTRA.aes) found.encrypted = true;
    if (id === EXTRA.pkwareUnix && data.length > PKWARE_UNIX_BYTES) found.link = true;
    if (id === EXTRA.asiUnix && data.length >= 10 && data.readUInt32LE(ASI_UNIX_LINK_AT) > 0) found.link = true;
    if (id === EXTRA.unicodePath && !isSameName(data, rawName)) throw new ArchiveProblem('mismatch', { entry });
  }
  return found;
}

/** Up to three bytes at the end are padding, as tools for aligning entries write it. */
function* fieldsOf(extra: Buffer): Generator<[number, Buffer]> {
  let at = 0;
  while (at + 4 <= extra.length) {
    const end = at + 4 + extra.readUInt16LE(at + 2);
    if (end > extra.length) throw new ArchiveProblem('damaged');
    yield [extra.readUInt16LE(at), extra.subarray(at + 4, end)];
    at = end;
  }
}

/** Readers differ on whether they believe a field that was written for another name. */
const isSameName = (field: Buffer, rawName: Buffer): boolean =>
  field.length >= 5 && field[0] === 1 && field.readUInt32LE(1) === crc32(rawName) && field.subarray(5).equals(rawName);
