const LINE_BYTES_MAX = 8 * 1024 ** 2;
const NEWLINE = 0x0a;

/** The archive is not what it claims to be, or damaged. */
export class ArchiveProblem extends Error {
  override readonly name = 'ArchiveProblem';
}

export interface Line {
  /** From 1. */
  readonly number: number;
  readonly text: string;
}

/** The lines of a stream, without empty ones. A longer line than any row can be ends the reading. */
export async function* linesOf(name: string, content: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  let number = 0;
  let held: Uint8Array[] = [];
  let bytes = 0;
  const take = (chunk: Uint8Array): Line | undefined => {
    number += 1;
    const text = decode(decoder, Buffer.concat([...held, chunk]), name, number);
    held = [];
    bytes = 0;
    return text.trim() === '' ? undefined : { number, text };
  };
  for await (const chunk of content) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
      const line = take(chunk.subarray(start, end));
      if (line) yield line;
      start = end + 1;
    }
    if (start < chunk.length) held.push(chunk.subarray(start));
    bytes += chunk.length - start;
    if (bytes > LINE_BYTES_MAX)
      throw new ArchiveProblem(`line ${number + 1} of ${name} is longer than ${LINE_BYTES_MAX} bytes`);
  }
  if (bytes > 0) {
    const line = take(new Uint8Array());
    if (line) yield line;
  }
}

function decode(decoder: TextDecoder, bytes: Buffer, name: string, number: number): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new ArchiveProblem(`line ${number} of ${name} is not UTF-8`);
  }
}
