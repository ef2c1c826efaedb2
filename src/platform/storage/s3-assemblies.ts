import {
  DeleteObjectCommand,
  HeadObjectCommand,
  ListPartsCommand,
  type S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { ConcurrencyLimit } from './concurrency-limit.ts';
import { type Address, type Bucket, isGone, isNoUpload, toStorageError, withStorageErrors } from './s3-client.ts';
import {
  abortUpload,
  beginUpload,
  completeUpload,
  putS3Part,
  S3_PART_BYTES,
  type S3Part,
  s3PartsOf,
} from './s3-multipart.ts';
import { hashesOf } from './s3-reader.ts';
import {
  type Assemblies,
  type Assembly,
  PART_BYTES,
  type Part,
  PartsDamaged,
  type StoredObject,
  type StoredPart,
} from './storage.ts';

/** Each hash occupies one CPU core. */
const HASHING_MAX = 2;

/**
 * A multipart upload of the bucket. Each part is split into S3 parts that fit into memory, and its tag lists them; they
 * cannot be read before the upload is complete, so a damaged one invalidates all of them. `linking` signs links for
 * clients, which send a part as one S3 part.
 */
export function s3Assemblies(bucket: Bucket, linking?: S3Client): Assemblies {
  const turns = new ConcurrencyLimit(HASHING_MAX);
  const uploadOf = ({ key, handle }: Assembly) => ({ ...bucket.addressOf(key), UploadId: handle });
  return {
    partBytes: PART_BYTES,
    begin: async (key) => beginUpload(bucket.client, bucket.addressOf(key)),
    putPart: async (assembly, part, body) => {
      const pieces: S3Part[] = [];
      const first = firstS3PartOf(part);
      for await (const { piece } of s3PartsOf(body, S3_PART_BYTES))
        pieces.push(await putS3Part(bucket.client, uploadOf(assembly), first + pieces.length, piece));
      return JSON.stringify(pieces.map(({ PartNumber, ETag }) => [PartNumber, ETag]));
    },
    finish: (assembly, parts, begun) =>
      turns.run(async () => {
        await begun?.();
        return finish(bucket, assembly, parts);
      }),
    discard: async (assembly) => {
      if (assembly.handle !== '') await abortUpload(bucket.client, uploadOf(assembly));
      await withStorageErrors(bucket.client.send(new DeleteObjectCommand(bucket.addressOf(assembly.key))));
    },
    ...(linking && {
      partLink: (assembly, part, seconds) => {
        const { number, bytes } = { ...part, number: firstS3PartOf(part) };
        // The length is signed, so the bucket refuses any other.
        const command = new UploadPartCommand({ ...uploadOf(assembly), PartNumber: number, ContentLength: bytes });
        return withStorageErrors(getSignedUrl(linking, command, { expiresIn: seconds }));
      },
      linkedPart: (assembly, part) => linkedPart(bucket, uploadOf(assembly), part),
    }),
    abandon: (assembly) => abortUpload(bucket.client, uploadOf(assembly)),
  };
}

/** All earlier parts have the same length, and so the same number of S3 parts. */
function firstS3PartOf({ number, start }: Part): number {
  if (number === 1) return 1;
  return (number - 1) * Math.ceil(start / (number - 1) / S3_PART_BYTES) + 1;
}

async function linkedPart(
  { client }: Bucket,
  upload: Address & { UploadId: string },
  part: Part,
): Promise<string | undefined> {
  const number = firstS3PartOf(part);
  const before = { PartNumberMarker: String(number - 1), MaxParts: 1 };
  try {
    const { Parts = [] } = await client.send(new ListPartsCommand({ ...upload, ...before }));
    const [found] = Parts;
    if (found?.PartNumber !== number || found.Size !== part.bytes || !found.ETag) return undefined;
    return JSON.stringify([[number, found.ETag]]);
  } catch (error) {
    if (isNoUpload(error)) return undefined;
    throw toStorageError(error);
  }
}

const piecesIn = ({ tag }: StoredPart): S3Part[] =>
  (JSON.parse(tag) as [number, string][]).map(([PartNumber, ETag]) => ({ PartNumber, ETag }));

async function finish(bucket: Bucket, assembly: Assembly, parts: readonly StoredPart[]): Promise<StoredObject> {
  const { client } = bucket;
  const address = bucket.addressOf(assembly.key);
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const all = () =>
    new PartsDamaged(
      parts.map(({ number }) => number),
      { isAborted: true },
    );
  if (!(await isObject(bucket, assembly.key, bytes))) {
    const upload = { ...address, UploadId: assembly.handle };
    const isDone = await completeUpload(client, upload, parts.flatMap(piecesIn), bytes).catch((error) => {
      // The bucket lost or replaced S3 parts.
      if (/InvalidPart/.test(error?.cause?.name)) return false;
      throw error;
    });
    if (!isDone) {
      // Everything is sent again in a new upload, so this one is aborted.
      await abortUpload(client, upload);
      throw all();
    }
  }
  const lengths = parts.map((part) => part.bytes);
  const found = await hashesOf(client, address, lengths);
  if (parts.every(({ sha256 }, index) => found.parts[index] === sha256))
    return { bytes, md5: found.md5, sha256: found.sha256 };
  await withStorageErrors(client.send(new DeleteObjectCommand(address)));
  throw all();
}

/** The process may have crashed between completing the upload and recording it. */
async function isObject({ client, addressOf }: Bucket, key: string, bytes: number): Promise<boolean> {
  try {
    return (await client.send(new HeadObjectCommand(addressOf(key)))).ContentLength === bytes;
  } catch (error) {
    if (isGone(error)) return false;
    throw toStorageError(error);
  }
}
