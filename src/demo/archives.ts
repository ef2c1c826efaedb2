import { crc32 } from 'node:zlib';

const ARCHIVES = 5;

/** A few small archives with one text file each, which all sample mods share. */
export const sampleArchives = (): Buffer[] =>
  Array.from({ length: ARCHIVES }, (_, index) =>
    archiveOf('readme.txt', Buffer.from(`Sample content ${index + 1}. There is nothing to install.\n`)),
  );

/** A zip archive with one uncompressed file. */
function archiveOf(name: string, content: Buffer): Buffer {
  const shared = sharedHeader(name, content);
  const local = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), content]);
  const central = Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared, Buffer.alloc(14), Buffer.from(name)]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(central.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, central, end]);
}

/** The common part of both headers of a file: version, method, date, checksum, sizes, length of the name. */
function sharedHeader(name: string, content: Buffer): Buffer {
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(0x21, 8);
  header.writeUInt32LE(crc32(content), 10);
  header.writeUInt32LE(content.length, 14);
  header.writeUInt32LE(content.length, 18);
  header.writeUInt16LE(name.length, 22);
  return header;
}
