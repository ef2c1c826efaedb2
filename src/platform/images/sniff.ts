import { open } from 'node:fs/promises';

const isText = (bytes: Buffer, start: number, text: string) =>
  bytes.toString('latin1', start, start + text.length) === text;

const isPng = (bytes: Buffer) => isText(bytes, 0, '\x89PNG\r\n\x1a\n');
const isJpeg = (bytes: Buffer) => isText(bytes, 0, '\xff\xd8\xff');
const isGif = (bytes: Buffer) => isText(bytes, 0, 'GIF87a') || isText(bytes, 0, 'GIF89a');
const isWebp = (bytes: Buffer) => isText(bytes, 0, 'RIFF') && isText(bytes, 8, 'WEBP');

const HEAD_BYTES = 12;

/** Only the bytes identify the format; the sender chooses the name and the declared type. */
export async function isPicture(path: string): Promise<boolean> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  const head = buffer.subarray(0, bytesRead);
  return isPng(head) || isJpeg(head) || isGif(head) || isWebp(head);
}
