import ipaddr from 'ipaddr.js';

/** An address range in CIDR form: the first address as bytes, and the prefix length in bits. */
export interface Network {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** Four or sixteen bytes; an IPv4-mapped IPv6 address counts as IPv4. Undefined for an invalid address. */
const bytesOf = (address: string): readonly number[] | undefined =>
  ipaddr.isValid(address) ? ipaddr.process(address).toByteArray() : undefined;

function maskedBytes(bytes: readonly number[], bits: number): number[] {
  return bytes.map((byte, index) => {
    const kept = Math.min(8, Math.max(0, bits - index * 8));
    return byte & (0xff << (8 - kept)) & 0xff;
  });
}

/** An IPv6 host owns a /64 and can change its address within it, so a single address means that network. */
const BITS_ALONE = { 4: 32, 16: 64 } as const;

/** `203.0.113.7`, `203.0.113.0/24`, `2001:db8::/48`; bits beyond the prefix are dropped. */
export function networkOf(text: string): Network | undefined {
  const [, address = '', prefix] = /^([0-9a-f.:]{2,45})(?:\/(\d{1,3}))?$/i.exec(text) ?? [];
  const isWhole = ipaddr.IPv6.isValid(address) || ipaddr.IPv4.isValidFourPartDecimal(address);
  const bytes = isWhole ? bytesOf(address) : undefined;
  if (!bytes) return undefined;
  const bits = prefix === undefined ? BITS_ALONE[bytes.length as 4 | 16] : Number(prefix);
  return bits <= bytes.length * 8 ? { bytes: maskedBytes(bytes, bits), bits } : undefined;
}

export const networkText = ({ bytes, bits }: Network): string =>
  `${ipaddr.fromByteArray([...bytes]).toString()}/${bits}`;

/** True if the two ranges overlap: one of them contains the first address of the other. */
export const overlaps = (one: Network, other: Network): boolean =>
  isWithin(firstOf(one), other) || isWithin(firstOf(other), one);

const firstOf = ({ bytes }: Network): string => ipaddr.fromByteArray([...bytes]).toString();

export function isWithin(address: string, { bytes, bits }: Network): boolean {
  const own = bytesOf(address);
  return own?.length === bytes.length && maskedBytes(own, bits).every((byte, index) => byte === bytes[index]);
}

export const isLoopback = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.process(address).range() === 'loopback';

/** Tests an address against many networks. The cost grows with the number of distinct prefix lengths. */
export class NetworkSet {
  readonly #byLength = new Map<string, { bits: number; size: number; firsts: Set<string> }>();

  add({ bytes, bits }: Network): void {
    const length = `${bytes.length}/${bits}`;
    const group = this.#byLength.get(length) ?? { bits, size: bytes.length, firsts: new Set() };
    group.firsts.add(bytes.join('.'));
    this.#byLength.set(length, group);
  }

  has(address: string): boolean {
    const own = bytesOf(address);
    if (!own) return false;
    for (const { bits, size, firsts } of this.#byLength.values())
      if (size === own.length && firsts.has(maskedBytes(own, bits).join('.'))) return true;
    return false;
  }
}
