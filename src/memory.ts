/**
 * Gives the memory of bytes back at once that nobody needs any more. Left to the garbage collector, which counts its own
 * objects, a hundred megabytes of such buffers are there before it looks, and then it takes the processors for ten
 * milliseconds at a time. A buffer that shares its memory with others is left alone.
 */
export function giveBack({ buffer, length }: Buffer): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}
