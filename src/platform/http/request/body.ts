import type { Readable } from 'node:stream';
import { ApiError } from '../../errors/catalogue.ts';
import { Blocks } from './blocks.ts';
import { endedEarly } from './stream-reader.ts';
import { decodedUtf8 } from './utf8.ts';

export type ContentType = { type: string; parameters: Record<string, string> };

/**
 * Reads a whole body as UTF-8, without its BOM; invalid bytes become `ILL_FORMED`. A body over the limit stays unread.
 */
export function readText(stream: Readable, bytesMax: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const take = (chunk: Buffer | string) => {
      chunks.push(Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk));
      bytes += chunks.at(-1)!.length;
      if (bytes > bytesMax) leave(bodyTooLarge(bytesMax));
    };
    const leave = (error: Error) => {
      stream.off('data', take).pause();
      reject(error);
    };
    const close = () => leave(endedEarly());
    stream.on('data', take);
    stream.once('end', () => {
      stream.off('close', close);
      resolve(decodedUtf8(chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).replace(/^\ufeff/, ''));
    });
    stream.once('error', leave);
    stream.once('close', close);
    // A client that disconnected before its body was read: the stream emits nothing more.
    if (stream.destroyed) close();
  });
}

/** A body in blocks (`Blocks`); beyond the limit it stays unread. Reading starts with the first request for a block. */
export async function* limited(stream: Readable, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const block of new Blocks(stream)) {
    bytes += block.length;
    if (bytes > bytesMax) throw bodyTooLarge(bytesMax);
    yield block;
  }
}

/** Bounds the backtracking of the patterns below; real headers are ten times shorter. */
const headerLengthMax = 1_000;
const token = "[!#$%&'*+.^_`|~0-9a-z-]+";
const typeShape = new RegExp(`^\\s*(${token}/${token})\\s*(?:;|$)`, 'i');
const parameterShape = new RegExp(`;\\s*(${token})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^;"]*))`, 'gi');

/** Parses a Content-Type header leniently; of a repeated parameter the first value wins. */
export function contentTypeOf(header: string | undefined): ContentType | undefined {
  const text = header?.slice(0, headerLengthMax) ?? '';
  const type = typeShape.exec(text)?.[1]?.toLowerCase();
  if (!type) return undefined;
  const parameters: Record<string, string> = Object.create(null);
  for (const [, name, quoted, plain] of text.matchAll(parameterShape)) {
    parameters[name!.toLowerCase()] ??= quoted?.replace(/\\(.)/g, '$1') ?? plain!.trim();
  }
  return { type, parameters };
}

/** Sizes for error texts (`8 MB`), in binary units. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB'];
  const step = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return `${Number((bytes / 1024 ** step).toFixed(1))} ${units[step]}`;
}

const bodyTooLarge = (bytesMax: number): ApiError =>
  new ApiError('VALIDATION_GENERIC', {
    fields: [{ field: 'body', rule: 'body_max', values: { max: bytesText(bytesMax) } }],
  });
