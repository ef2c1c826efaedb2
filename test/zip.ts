import { crc32, deflateRawSync } from 'node:zlib';

/** A zip archive with these files, each deflated. */
export function zipOf(files: Readonly<Record<string, string | Buffer>>): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let at = 0;
  for (const [name, content] of Object.entries(files)) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const shared = sharedHeader(name, plain, packed);
    const entry = Buffer.concat([Buffer.from('PK\x03\x04'), shared, Buffer.from(name), packed]);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(at, 10);
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), shared, tail, Buffer.from(name)]));
    local.push(entry);
    at += entry.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(central.length, 8);
  end.writeUInt16LE(central.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...local, directory, end]);
}

/** What the header of an entry and that in the directory have in common: version, method, sum, sizes, name. */
function sharedHeader(name: string, plain: Buffer, packed: Buffer): Buffer {
  const DEFLATED = 8;
  const header = Buffer.alloc(26);
  header.writeUInt16LE(20, 0);
  header.writeUInt16LE(DEFLATED, 4);
  header.writeUInt32LE(crc32(plain), 10);
  header.writeUInt32LE(packed.length, 14);
  header.writeUInt32LE(plain.length, 18);
  header.writeUInt16LE(Buffer.byteLength(name), 22);
  return header;
}
