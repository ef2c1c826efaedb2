import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import ipaddr from 'ipaddr.js';

export type Networks = readonly (readonly [ipaddr.IPv4 | ipaddr.IPv6, number])[];

/** Whether the peer is one of the operator's own proxies. */
export function isTrusted(address: string | undefined, networks: Networks): boolean {
  if (networks.length === 0 || !address || !ipaddr.isValid(address)) return false;
  const peer = ipaddr.process(address);
  return networks.some(([network, bits]) => peer.kind() === network.kind() && peer.match(network as never, bits));
}

/** The remote end of a connection, computed once per socket. */
export interface Peer {
  readonly address: string;
  readonly trusted: boolean;
  /** TLS ends in this process, not at a proxy. */
  readonly encrypted: boolean;
}

const peers = new WeakMap<Socket, Peer>();

export function peerOf(socket: Socket, networks: Networks): Peer {
  const known = peers.get(socket);
  if (known) return known;
  const address = plain(socket.remoteAddress ?? '');
  const encrypted = (socket as { encrypted?: boolean }).encrypted === true;
  const peer = { address, trusted: isTrusted(address, networks), encrypted };
  peers.set(socket, peer);
  return peer;
}

/** The rightmost address that is not one of our proxies. Everything to its left can be forged by the client. */
export function clientAddress(request: IncomingMessage, networks: Networks): string {
  const peer = peerOf(request.socket, networks);
  if (!peer.trusted || request.headers['x-forwarded-for'] === undefined) return peer.address;
  const forwarded = String(request.headers['x-forwarded-for'])
    .split(',')
    .map((hop) => hop.trim())
    .filter(Boolean);
  for (const hop of forwarded.reverse()) {
    if (!ipaddr.isValid(hop)) break;
    if (!isTrusted(hop, networks)) return plain(hop);
  }
  return peer.address;
}

/** An IPv6 host owns a whole /64, so limits count the network and not the address. */
export function limitedAddress(address: string): string {
  if (!address.includes(':')) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

function plain(address: string): string {
  return address.startsWith('::ffff:') ? address.slice(7) : address;
}
