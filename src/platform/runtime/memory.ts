/**
 * Frees the memory of a buffer immediately. The garbage collector counts only its own objects, so a hundred megabytes
 * of buffers would accumulate before it runs, and it would then block for ten milliseconds at a time; a buffer that
 * shares its memory is left unchanged.
 */
export function freeBuffer({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
