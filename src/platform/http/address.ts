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
  /** The headers of its last request. */
  sent: SentHeaders | undefined;
}

interface SentHeaders {
  readonly raw: readonly string[];
  readonly fingerprint: string;
}

/** A property of the socket, because the entries of a map are in other memory, which each request would fetch. */
const PEER = Symbol('peer');
type KnownSocket = Socket & { [PEER]?: Peer };

export function peerOf(socket: KnownSocket, networks: Networks): Peer {
  const known = socket[PEER];
  if (known) return known;
  const address = plain(socket.remoteAddress ?? '');
  const encrypted = (socket as { encrypted?: boolean }).encrypted === true;
  const peer: Peer = { address, trusted: isTrusted(address, networks), encrypted, sent: undefined };
  socket[PEER] = peer;
  return peer;
}

const SHARED_MAX = 1_000;
const SHARED_CHARACTERS_MAX = 2_000;
/** Connections whose clients send the same share one copy, which stays in the caches of the processor. */
const shared = new Map<string, SentHeaders>();

function sharedHeaders(fingerprint: string, raw: readonly string[]): SentHeaders | undefined {
  const known = shared.get(fingerprint);
  if (known || fingerprint.length > SHARED_CHARACTERS_MAX) return known;
  const sent = { raw, fingerprint };
  if (shared.size >= SHARED_MAX) shared.clear();
  shared.set(fingerprint, sent);
  return sent;
}

/**
 * All headers of a request, and how far its connection is trusted, as one text. Clients send the same headers in each
 * request of a connection, and comparing them takes a tenth of the time of joining them.
 */
export function fingerprintOf({ rawHeaders, socket }: IncomingMessage, networks: Networks): string {
  const peer = peerOf(socket, networks);
  if (peer.sent && isSame(peer.sent.raw, rawHeaders)) return peer.sent.fingerprint;
  const standing = peer.encrypted ? 's' : peer.trusted ? 't' : 'p';
  const fingerprint = `${standing}${rawHeaders.join('\n')}`;
  peer.sent = sharedHeaders(fingerprint, rawHeaders);
  return peer.sent?.fingerprint ?? fingerprint;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i += 1) if (one[i] !== other[i]) return false;
  return true;
}

export function clientAddress(request: IncomingMessage, networks: Networks): string {
  const peer = peerOf(request.socket, networks);
  const header = request.headers['x-forwarded-for'];
  if (!peer.trusted || header === undefined) return peer.address;
  return forwardedFor(String(header), networks) ?? peer.address;
}

const KNOWN_MAX = 10_000;
const KNOWN_CHARACTERS_MAX = 64;
const knownBy = new WeakMap<Networks, Map<string, string | undefined>>();

/** Remembers short headers, because parsing one takes a tenth of the time of a cached response. */
function forwardedFor(header: string, networks: Networks): string | undefined {
  if (header.length > KNOWN_CHARACTERS_MAX) return rightmostForeign(header, networks);
  const known = knownBy.get(networks) ?? new Map<string, string | undefined>();
  knownBy.set(networks, known);
  if (known.has(header)) return known.get(header);
  const address = rightmostForeign(header, networks);
  if (known.size >= KNOWN_MAX) known.clear();
  known.set(header, address);
  return address;
}

/** The rightmost address that is not one of our proxies. Everything to its left can be forged by the client. */
function rightmostForeign(header: string, networks: Networks): string | undefined {
  const hops = header
    .split(',')
    .map((hop) => hop.trim())
    .filter(Boolean);
  for (const hop of hops.reverse()) {
    if (!ipaddr.isValid(hop)) return undefined;
    if (!isTrusted(hop, networks)) return ipaddr.process(hop).toString();
  }
  return undefined;
}

/** An IPv6 host owns a whole /64, so limits count the network and not the address. */
export function limitedAddress(address: string): string {
  const host = plain(address);
  if (!host.includes(':')) return host;
  const parsed = ipaddr.process(host);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${(parsed as ipaddr.IPv6).parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

const MAPPED = '::ffff:';

/** An IPv4 address without the prefix that a socket of both versions shows before it. */
function plain(address: string): string {
  return address.startsWith(MAPPED) && address.includes('.') ? address.slice(MAPPED.length) : address;
}
