import { createHash, randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import {
  CopyObjectCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  type GetObjectCommandOutput,
  HeadObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { systemClock } from '../runtime/clock.ts';
import { type Cdn, cdnLink } from './cdn.ts';
import type { S3Location } from './location.ts';
import { s3Assemblies } from './s3-assemblies.ts';
import { type Address, type Bucket, clientOf, isGone, toStorageError, withStorageErrors } from './s3-client.ts';
import { copyInParts, DOWNLOAD, MultipartUpload, S3_PART_BYTES, s3PartsOf } from './s3-multipart.ts';
import { hashesOf, readInto } from './s3-reader.ts';
import {
  type ByteRange,
  isKey,
  type LinkOptions,
  type OpenObject,
  requireKey,
  requirePrefix,
  type Storage,
  type StoredObject,
  TooLarge,
} from './storage.ts';

/** Amazon copies up to 5 GB at once; smaller copies finish within the timeout of the client. */
const COPY_BYTES_MAX = 1024 ** 3;

export interface S3Options {
  /** Longer objects are copied in parts. */
  readonly copyBytesMax?: number;
  /** False if clients cannot reach the bucket, so that all bytes go through the service. */
  readonly offersLinks?: boolean;
  /** Serves downloads in place of the bucket. */
  readonly cdn?: Cdn;
  /** Unix seconds. */
  readonly now?: () => number;
}

/** Objects in a bucket, each at its key after the prefix. */
export function s3Storage(location: S3Location, options: S3Options = {}): Storage {
  const { copyBytesMax = COPY_BYTES_MAX, offersLinks = true, cdn, now = systemClock.now } = options;
  const client = clientOf(location);
  const { bucket: name, prefix } = location;
  const addressOf = (key: string) => ({ Bucket: name, Key: prefix + requireKey(key) });
  const bucket: Bucket = { client, name, location, addressOf };
  const linking = location.publicEndpoint === undefined ? client : clientOf(location, location.publicEndpoint);
  return {
    put: async (key, body, options = {}) => put(bucket, key, body, options.bytesMax ?? Infinity),
    open: async (key, range) => open(bucket, key, range),
    read: async (key) => openVersion(bucket, key),
    ...(offersLinks && {
      link: async (key, options) =>
        cdn ? cdnLink(cdn, addressOf(key).Key, now(), options) : linkTo(linking, addressOf(key), options),
      // S3 accepts a signature in the address or in the header, not both.
      linksRefuseCredentials: !cdn,
    }),
    stat: async (key) => {
      const found = await head(bucket, key);
      return found && { bytes: found.bytes };
    },
    move: async (from, to) => move(bucket, from, to, copyBytesMax),
    remove: async (key) => void (await withStorageErrors(client.send(new DeleteObjectCommand(addressOf(key))))),
    list: (start) => list(bucket, start),
    check: () => check(bucket),
    room: async () => undefined,
    close: async () => {
      client.destroy();
      linking.destroy();
    },
    assemblies: s3Assemblies(bucket, offersLinks ? linking : undefined),
  };
}

/**
 * A body that fits into one S3 part is one request. A longer one is sent in parts, with one of them in memory at a
 * time.
 */
async function put(
  { client, addressOf }: Bucket,
  key: string,
  body: AsyncIterable<Uint8Array> | Uint8Array,
  bytesMax: number,
): Promise<StoredObject> {
  const address = addressOf(key);
  const [md5, sha256] = [createHash('md5'), createHash('sha256')];
  let bytes = 0;
  async function* hashed() {
    for await (const chunk of body instanceof Uint8Array ? [body] : body) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new TooLarge(`more than ${bytesMax} bytes`);
      md5.update(chunk);
      sha256.update(chunk);
      yield chunk;
    }
  }
  let upload: MultipartUpload | undefined;
  try {
    for await (const { piece, isLast } of s3PartsOf(hashed(), S3_PART_BYTES)) {
      if (isLast && !upload)
        await withStorageErrors(client.send(new PutObjectCommand({ ...address, ...DOWNLOAD, Body: piece })));
      else {
        upload ??= await MultipartUpload.begin(client, address);
        await upload.add(piece);
      }
    }
    await upload?.complete(bytes);
  } catch (error) {
    await upload?.abort();
    throw error;
  }
  return { bytes, md5: md5.digest('hex'), sha256: sha256.digest('hex') };
}

interface Head {
  readonly bytes: number;
  readonly etag: string;
  readonly dateModified: number;
}

async function head({ client, addressOf }: Bucket, key: string): Promise<Head | undefined> {
  try {
    const found = await client.send(new HeadObjectCommand(addressOf(key)));
    const { ContentLength = 0, ETag = '', LastModified } = found;
    return { bytes: ContentLength, etag: ETag, dateModified: Math.floor((LastModified?.getTime() ?? 0) / 1000) };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw toStorageError(error);
  }
}

const rangeOf = ({ start, end }: ByteRange) => `bytes=${start}-${end}`;

async function open(
  bucket: Bucket,
  key: string,
  range?: ByteRange,
): Promise<{ stream: Readable; bytes: number } | undefined> {
  const address = bucket.addressOf(key);
  if (range && !(range.start >= 0 && range.start <= range.end)) throw new RangeError('no such range');
  try {
    const Range = range && rangeOf(range);
    const found = await bucket.client.send(new GetObjectCommand({ ...address, ...(Range && { Range }) }));
    return { stream: streamOf(found), bytes: found.ContentLength ?? 0 };
  } catch (error) {
    if (isGone(error)) return undefined;
    if ((error as Error).name === 'InvalidRange') throw new RangeError('no such range', { cause: error });
    throw toStorageError(error);
  }
}

const streamOf = ({ Body }: GetObjectCommandOutput) => Body as Readable;

/** Each read is a request. */
const READ_BYTES = 1024 * 1024;

/** An open object is one version of it: reads fail after it was replaced or removed. */
async function openVersion(bucket: Bucket, key: string): Promise<OpenObject | undefined> {
  const found = await head(bucket, key);
  if (!found) return undefined;
  const { bytes, etag, dateModified } = found;
  const address = bucket.addressOf(key);
  return {
    bytes,
    dateModified,
    version: `${key} ${etag} ${bytes}`,
    readBytes: READ_BYTES,
    readInto: async (buffer, position) => {
      const length = Math.max(0, Math.min(bytes - position, buffer.byteLength));
      if (length > 0) await readInto(bucket.client, address, etag, buffer.subarray(0, length), position);
      return length;
    },
    digest: async () => (await hashesOf(bucket.client, address, [bytes], etag)).sha256,
    close: async () => {},
  };
}

const linkTo = (client: S3Client, address: Address, { seconds, type, disposition }: LinkOptions): Promise<string> => {
  const headers = { ResponseContentType: type, ResponseContentDisposition: disposition };
  const command = new GetObjectCommand({ ...address, ...headers, ResponseCacheControl: 'private, no-cache' });
  return withStorageErrors(getSignedUrl(client, command, { expiresIn: seconds }));
};

/** The bucket copies the object itself. An existing target stays until the copy is complete. */
async function move(bucket: Bucket, from: string, to: string, copyBytesMax: number): Promise<void> {
  const [source, target] = [bucket.addressOf(from), bucket.addressOf(to)];
  const found = await head(bucket, from);
  if (!found) throw Object.assign(new Error(`there is no ${from} to move`), { code: 'ENOENT' });
  const CopySource = `${source.Bucket}/${source.Key}`;
  if (found.bytes > copyBytesMax) await copyInParts(bucket.client, CopySource, target, found.bytes, copyBytesMax);
  else await withStorageErrors(bucket.client.send(new CopyObjectCommand({ ...target, CopySource })));
  await withStorageErrors(bucket.client.send(new DeleteObjectCommand(source)));
}

async function* list({ client, name, location }: Bucket, start: string): AsyncGenerator<string> {
  const Prefix = location.prefix + requirePrefix(start);
  let token: string | undefined;
  do {
    const page = { Bucket: name, Prefix, ...(token !== undefined && { ContinuationToken: token }) };
    const found = await withStorageErrors(client.send(new ListObjectsV2Command(page)));
    for (const { Key = '' } of found.Contents ?? []) {
      const key = Key.slice(location.prefix.length);
      if (isKey(key)) yield key;
    }
    token = found.IsTruncated ? found.NextContinuationToken : undefined;
  } while (token !== undefined);
}

/** Uses a name that is no valid key, so that no list contains it. */
async function check({ client, name, location }: Bucket): Promise<void> {
  const address = { Bucket: name, Key: `${location.prefix}.check/${randomUUID()}` };
  await withStorageErrors(client.send(new PutObjectCommand({ ...address, Body: 'writable' })));
  await withStorageErrors(client.send(new DeleteObjectCommand(address)));
}
