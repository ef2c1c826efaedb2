import { freeBuffer } from '../runtime/memory.ts';
import { handleRequests } from '../runtime/thread.ts';
import { bytesOf, S3ReadError, type Wanted } from './s3-download.ts';

export interface WantedRange extends Wanted {
  readonly end: number;
}

handleRequests(async (wanted: WantedRange) => {
  const range = await bytesIn(wanted);
  return { found: range, transfer: [range.buffer] };
});

async function bytesIn(wanted: WantedRange): Promise<Uint8Array<ArrayBuffer>> {
  const range = new Uint8Array(wanted.end + 1 - wanted.start);
  let filled = 0;
  for await (const chunk of bytesOf(wanted)) {
    range.set(chunk.subarray(0, range.length - filled), filled);
    filled += chunk.length;
    freeBuffer(chunk);
  }
  if (filled !== range.length) throw new S3ReadError(`the bucket gave ${filled} bytes instead of ${range.length}`);
  return range;
}
