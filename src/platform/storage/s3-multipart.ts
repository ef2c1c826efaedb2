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
import { type Address, asked, isNoUpload, toStorageError } from './s3-client.ts';

/** Held in memory, so that a request that fails can be made again. The parts of uploads are a multiple of it. */
export const PIECE_BYTES = 10 * 1024 ** 2;
const COPIES_AT_ONCE = 4;

/** Most of what is stored in one piece is much shorter than a piece may be. */
const FIRST_BYTES = 256 * 1024;

/**
 * Cuts what arrives into pieces of one length, but for the last. Nothing is one empty piece. A piece is the reader's until
 * it asks for the next: its memory is used again.
 */
export async function* piecesOf(
  body: AsyncIterable<Uint8Array>,
  size: number,
): AsyncGenerator<{ piece: Buffer; isLast: boolean }> {
  let piece: Buffer = Buffer.allocUnsafeSlow(Math.min(size, FIRST_BYTES));
  let bytes = 0;
  for await (const chunk of body)
    for (let taken = 0; taken < chunk.byteLength; ) {
      // A full piece waits for the next byte: until then it may be the last.
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

export interface Piece {
  readonly PartNumber: number;
  readonly ETag: string;
}

export async function beginUpload(client: S3Client, address: Address): Promise<string> {
  return (await asked(client.send(new CreateMultipartUploadCommand(address)))).UploadId!;
}

export async function putPiece(
  client: S3Client,
  upload: Address & { UploadId: string },
  PartNumber: number,
  Body: Uint8Array,
): Promise<Piece> {
  const { ETag = '' } = await asked(client.send(new UploadPartCommand({ ...upload, PartNumber, Body })));
  return { PartNumber, ETag };
}

/** Whether the upload has become the object; false where the bucket knows of neither. */
export async function completeUpload(
  client: S3Client,
  { UploadId, ...address }: Address & { UploadId: string },
  Parts: readonly Piece[],
  bytes: number,
): Promise<boolean> {
  try {
    const MultipartUpload = { Parts: [...Parts] };
    await client.send(new CompleteMultipartUploadCommand({ ...address, UploadId, MultipartUpload }));
    return true;
  } catch (error) {
    if (!isNoUpload(error)) throw toStorageError(error);
  }
  // An attempt of which the answer was lost may have done it.
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

/** An object on its way, piece by piece. */
export class MultipartUpload {
  readonly #client: S3Client;
  readonly #upload: Address & { UploadId: string };
  readonly #pieces: Piece[] = [];

  private constructor(client: S3Client, upload: Address & { UploadId: string }) {
    this.#client = client;
    this.#upload = upload;
  }

  static async begin(client: S3Client, address: Address): Promise<MultipartUpload> {
    return new MultipartUpload(client, { ...address, UploadId: await beginUpload(client, address) });
  }

  async add(piece: Uint8Array): Promise<void> {
    this.#pieces.push(await putPiece(this.#client, this.#upload, this.#pieces.length + 1, piece));
  }

  async copy(CopySource: string, PartNumber: number, CopySourceRange: string): Promise<void> {
    const command = new UploadPartCopyCommand({ ...this.#upload, CopySource, PartNumber, CopySourceRange });
    const { CopyPartResult } = await asked(this.#client.send(command));
    this.#pieces.push({ PartNumber, ETag: CopyPartResult?.ETag ?? '' });
  }

  async complete(bytes: number): Promise<void> {
    const inOrder = this.#pieces.toSorted((one, other) => one.PartNumber - other.PartNumber);
    if (!(await completeUpload(this.#client, this.#upload, inOrder, bytes)))
      throw new Error('the pieces were removed while they were put together');
  }

  /** Whatever stays is left to the bucket's own rule for uploads that were never completed. */
  async abort(): Promise<void> {
    await abortUpload(this.#client, this.#upload).catch(() => {});
  }
}

export async function copyInPieces(
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
