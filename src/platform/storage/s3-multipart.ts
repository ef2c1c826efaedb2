import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  type S3Client,
  UploadPartCommand,
  UploadPartCopyCommand,
} from '@aws-sdk/client-s3';
import { freeBuffer } from '../runtime/memory.ts';
import { type Address, isNoUpload, toStorageError, withStorageErrors } from './s3-client.ts';

/** Kept in memory, so that a failed request can be repeated. The length of an upload's parts is a multiple of it. */
export const S3_PART_BYTES = 10 * 1024 ** 2;
const COPIES_AT_ONCE = 4;

/** A CDN that drops the parameters of a link sends these headers: no browser shows the object as a page. */
export const DOWNLOAD = { ContentType: 'application/octet-stream', ContentDisposition: 'attachment' };

/** The initial buffer, because most objects that fit into one S3 part are much smaller. */
const FIRST_BYTES = 256 * 1024;

/**
 * Splits a stream into S3 parts of equal length, except for the last; an empty stream is one empty part. A part is
 * valid only until the next one is requested, because its memory is reused.
 */
export async function* s3PartsOf(
  body: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let piece: Buffer = Buffer.allocUnsafeSlow(Math.min(size, FIRST_BYTES));
  let bytes = 0;
  for await (const chunk of body)
    for (let taken = 0; taken < chunk.byteLength; ) {
      // A full part is yielded only when more bytes follow, because until then it may be the last.
      if (bytes === size) {
        yield { piece, isLast: false };
        bytes = 0;
      }
      if (bytes === piece.length) piece = grown(piece, size);
      const part = chunk.subarray(taken, taken + piece.length - bytes);
      piece.set(part, bytes);
      bytes += part.byteLength;
      taken += part.byteLength;
    }
  yield { piece: piece.subarray(0, bytes), isLast: true };
  freeBuffer(piece);
}

function grown(piece: Buffer, size: number): Buffer {
  const larger = Buffer.allocUnsafeSlow(Math.min(size, 2 * piece.length));
  larger.set(piece);
  freeBuffer(piece);
  return larger;
}

export interface S3Part {
  readonly PartNumber: number;
  readonly ETag: string;
}

export async function beginUpload(client: S3Client, address: Address): Promise<string> {
  return (await withStorageErrors(client.send(new CreateMultipartUploadCommand({ ...address, ...DOWNLOAD }))))
    .UploadId!;
}

export async function putS3Part(
  client: S3Client,
  upload: Address & { UploadId: string },
  PartNumber: number,
  Body: Uint8Array,
): Promise<S3Part> {
  const { ETag = '' } = await withStorageErrors(client.send(new UploadPartCommand({ ...upload, PartNumber, Body })));
  return { PartNumber, ETag };
}

/** True if the upload became the object; false if the bucket has neither. */
export async function completeUpload(
  client: S3Client,
  { UploadId, ...address }: Address & { UploadId: string },
  Parts: readonly S3Part[],
  bytes: number,
): Promise<boolean> {
  try {
    const MultipartUpload = { Parts: [...Parts] };
    await client.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload }));
    return true;
  } catch (error) {
    if (!isNoUpload(error)) throw toStorageError(error);
  }
  // An earlier attempt whose response was lost may have succeeded.
  const found = await client.send(new HeadObjectCommand(address)).catch(() => undefined);
  return found?.ContentLength === bytes;
}

export async function abortUpload(client: S3Client, upload: Address & { UploadId: string }): Promise<void> {
  try {
    await client.send(new AbortMultipartUploadCommand(upload));
  } catch (error) {
    if (!isNoUpload(error)) throw toStorageError(error);
  }
}

/** An object that is uploaded in parts. */
export class MultipartUpload {
  readonly #client: S3Client;
  readonly #upload: Address & { UploadId: string };
  readonly #pieces: S3Part[] = [];

  private constructor(client: S3Client, upload: Address & { UploadId: string }) {
    this.#client = client;
    this.#upload = upload;
  }

  static async begin(client: S3Client, address: Address): Promise<MultipartUpload> {
    return new MultipartUpload(client, { ...address, UploadId: await beginUpload(client, address) });
  }

  async add(piece: Uint8Array): Promise<void> {
    this.#pieces.push(await putS3Part(this.#client, this.#upload, this.#pieces.length + 1, piece));
  }

  async copy(CopySource: string, PartNumber: number, CopySourceRange: string): Promise<void> {
    const command = new UploadPartCopyCommand({ ...this.#upload, CopySource, PartNumber, CopySourceRange });
    const { CopyPartResult } = await withStorageErrors(this.#client.send(command));
    this.#pieces.push({ PartNumber, ETag: CopyPartResult?.ETag ?? '' });
  }

  async complete(bytes: number): Promise<void> {
    const inOrder = this.#pieces.toSorted((one, other) => one.PartNumber - other.PartNumber);
    if (!(await completeUpload(this.#client, this.#upload, inOrder, bytes)))
      throw new Error('the pieces were removed while they were put together');
  }

  /** If this fails, the bucket's lifecycle rule for incomplete uploads removes the parts. */
  async abort(): Promise<void> {
    await abortUpload(this.#client, this.#upload).catch(() => {});
  }
}

export async function copyInParts(
  client: S3Client,
  source: string,
  target: Address,
  bytes: number,
  size: number,
): Promise<void> {
  const upload = await MultipartUpload.begin(client, target);
  const starts = Array.from({ length: Math.ceil(bytes / size) }, (_, index) => index * size);
  const next = starts.entries();
  const copySome = async () => {
    for (const [index, start] of next)
      await upload.copy(source, index + 1, `bytes=${start}-${Math.min(bytes, start + size) - 1}`);
  };
  try {
    await Promise.all(Array.from({ length: COPIES_AT_ONCE }, copySome));
    await upload.complete(bytes);
  } catch (error) {
    await upload.abort();
    throw error;
  }
}
