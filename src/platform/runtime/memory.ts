/**
 * Gives the memory of bytes back at once that nobody needs any more. Left to the garbage collector, which counts its own
 * objects, a hundred megabytes of such buffers are there before it looks, and then it takes the processors for ten
 * milliseconds at a time. A buffer that shares its memory with others is left alone.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
