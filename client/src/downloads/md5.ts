// MD5 (RFC 1321) as a stream: Web Crypto has no MD5, and the API identifies files by it.

const SHIFTS = [
  [7, 12, 17, 22],
  [5, 9, 14, 20],
  [4, 11, 16, 23],
  [6, 10, 15, 21],
] as const;
const SINES = Array.from({ length: 64 }, (_, index) => Math.floor(Math.abs(Math.sin(index + 1)) * 2 ** 32) | 0);
/** The word of the block that each step reads. */
const WORDS = Array.from({ length: 64 }, (_, step) => {
  const [factor, first] = [
    [1, 0],
    [5, 1],
    [3, 5],
    [7, 0],
  ][step >> 4] as [number, number];
  return (factor * step + first) & 15;
});
const BLOCK_BYTES = 64;

export interface Md5 {
  update(bytes: Uint8Array): void | Promise<void>;
  /** Lower-case hexadecimal. */
  digest(): string | Promise<string>;
}

export function createMd5() {
  const state = new Int32Array([0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476]);
  const pending = new Uint8Array(BLOCK_BYTES);
  let length = 0;
  const update = (bytes: Uint8Array) => {
    let at = 0;
    const filled = length % BLOCK_BYTES;
    length += bytes.length;
    if (filled > 0) {
      at = Math.min(BLOCK_BYTES - filled, bytes.length);
      pending.set(bytes.subarray(0, at), filled);
      if (filled + at < BLOCK_BYTES) return;
      mix(state, pending, 0);
    }
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) mix(state, bytes, at);
    pending.set(bytes.subarray(at));
  };
  const digest = () => {
    const padding = new Uint8Array(((119 - (length % BLOCK_BYTES)) % BLOCK_BYTES) + 9);
    padding[0] = 0x80;
    const view = new DataView(padding.buffer);
    view.setUint32(padding.length - 8, (length * 8) >>> 0, true);
    view.setUint32(padding.length - 4, Math.floor(length / 2 ** 29), true);
    update(padding);
    return Array.from(new Uint8Array(state.buffer), (byte) => byte.toString(16).padStart(2, '0')).join('');
  };
  return { update, digest } satisfies Md5;
}

function mix(state: Int32Array, bytes: Uint8Array, at: number): void {
  const words = new DataView(bytes.buffer, bytes.byteOffset + at, BLOCK_BYTES);
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  for (let step = 0; step < 64; step++) {
    const round = step >> 4;
    const word = words.getInt32(WORDS[step]! * 4, true);
    const sum = (a + mixed(round, b, c, d) + SINES[step]! + word) | 0;
    const shift = SHIFTS[round]![step & 3]!;
    a = d;
    d = c;
    c = b;
    b = (b + ((sum << shift) | (sum >>> (32 - shift)))) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
}

function mixed(round: number, b: number, c: number, d: number): number {
  if (round === 0) return (b & c) | (~b & d);
  if (round === 1) return (d & b) | (~d & c);
  return round === 2 ? b ^ c ^ d : c ^ (b | ~d);
}
