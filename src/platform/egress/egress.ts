import { lookup as systemLookup } from 'node:dns/promises';
import http, { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import https from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, getCACertificates, type SecureContext } from 'node:tls';
import ipaddr from 'ipaddr.js';

/** Requests to addresses that users chose (key sets, webhooks). No other code may make such requests. */
export interface Egress {
  fetch(url: string, options?: EgressOptions): Promise<EgressResponse>;
}

export interface EgressOptions {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Covers everything together: name resolution, connections, redirects and the whole body. */
  timeoutMs?: number;
  bytesMax?: number;
  redirectsMax?: number;
  /** Refuses further addresses, also those of redirects. */
  isAllowed?: (url: URL) => boolean;
  /** Receives the body of a successful response as it arrives; `body` is then empty. */
  into?: (body: AsyncIterable<Uint8Array>) => Promise<void>;
  /** Reuses connections of earlier requests with these; only for requests without a body, which may be repeated. */
  connections?: KeptConnections;
}

/** Connections for many requests to one service. The address of each was checked when it was opened. */
export class KeptConnections {
  readonly http = new http.Agent({ keepAlive: true });
  readonly https = new https.Agent({ keepAlive: true });

  close(): void {
    this.http.destroy();
    this.https.destroy();
  }
}

interface EgressResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
  /** The address of the response, after redirects. */
  url: string;
}

export interface EgressSettings {
  /** Returns all addresses of a host name. */
  lookup?: (hostname: string) => Promise<string[]>;
  /** Exceptions for on-premise services: `10.1.0.0/16` or `idp.internal:8443`. Only there is plain http allowed. */
  allowPrivate?: string[];
  /** PEM certificates to trust in addition to the default ones. */
  ca?: string[];
  /** Headers of every request, such as those that continue a trace. */
  headers?: () => Record<string, string>;
}

export type EgressReason = 'forbidden' | 'unreachable' | 'timeout' | 'too-large' | 'redirects' | 'invalid-url';

/** The reason, or a more precise one, that has a text in every language. */
export type EgressDetail = EgressReason | 'only-https' | 'special-address' | 'unresolved';

export class EgressError extends Error {
  override readonly name = 'EgressError';
  readonly reason: EgressReason;
  readonly detail: EgressDetail;

  constructor(reason: EgressReason, message: string, options?: ErrorOptions & { detail?: EgressDetail }) {
    super(message, options);
    this.reason = reason;
    this.detail = options?.detail ?? reason;
  }
}

export function createEgress(settings: EgressSettings = {}): Egress {
  const guard: Guard = {
    exceptions: (settings.allowPrivate ?? []).map(toException),
    lookup: settings.lookup ?? lookupAll,
    // Parsing a hundred certificates takes longer than a request, so it happens once.
    secureContext: settings.ca && createSecureContext({ ca: [...getCACertificates('default'), ...settings.ca] }),
  };
  return {
    fetch: (url, options = {}) => {
      const headers = settings.headers ? { ...settings.headers(), ...options.headers } : options.headers;
      const first = { ...options, ...(headers && { headers }) };
      return withinDeadline(options.timeoutMs ?? 5000, (signal) =>
        follow(guard, firstHop(url, first), options, signal),
      );
    },
  };
}

interface Guard {
  exceptions: Exception[];
  lookup: (hostname: string) => Promise<string[]>;
  secureContext: SecureContext | undefined;
}

/** The request for the next server of a redirect chain. */
interface Hop {
  url: URL;
  method: string;
  headers: Record<string, string>;
  body: string | Uint8Array | undefined;
}

/** The target of a hop, resolved once: the connection uses these addresses, and the name is not resolved again. */
interface Target {
  hostname: string;
  addresses: string[];
}

async function lookupAll(hostname: string): Promise<string[]> {
  return (await systemLookup(hostname, { all: true })).map(({ address }) => address);
}

/** One deadline over everything, so that neither a slow name server nor a slow body delays us longer. */
async function withinDeadline<T>(timeoutMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const deadline = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new EgressError('timeout', `no complete answer within ${timeoutMs} ms`);
    deadline.abort(error);
    reject(error);
  }, timeoutMs);
  try {
    return await Promise.race([work(deadline.signal), late]);
  } finally {
    clearTimeout(timer);
  }
}

function firstHop(url: string, { method = 'GET', headers = {}, body }: EgressOptions): Hop {
  const kept = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
  // The Host header must follow from the URL; another one could reach a different site at the checked address.
  return { url: toUrl(url), method, headers: Object.fromEntries(kept.filter(([name]) => name !== 'host')), body };
}

async function follow(guard: Guard, first: Hop, options: EgressOptions, signal: AbortSignal): Promise<EgressResponse> {
  let hop = first;
  for (let redirects = 0; ; redirects += 1) {
    if (options.isAllowed?.(hop.url) === false) throw new EgressError('forbidden', `${hop.url.host} is not allowed`);
    const target = await requireTarget(guard, hop.url);
    signal.throwIfAborted();
    const response = await exchange(guard, hop, target, options, signal);
    const location = locationOf(response);
    if (location === undefined) return response;
    if (redirects === (options.redirectsMax ?? 3)) throw new EgressError('redirects', 'redirected too often');
    hop = redirected(hop, response.status, location);
  }
}

function toUrl(text: string, base?: URL): URL {
  const url = URL.parse(text, base);
  if (!url) throw new EgressError('invalid-url', 'not a URL');
  if (url.username || url.password) throw new EgressError('invalid-url', 'a URL with a user name or password');
  if (url.port === '0') throw new EgressError('invalid-url', 'port 0 does not exist');
  return url;
}

function locationOf({ status, headers }: EgressResponse): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? headers.location : undefined;
}

const credentialHeaders = ['authorization', 'cookie', 'proxy-authorization'];
const bodyHeaders = ['content-type', 'content-length', 'content-encoding', 'content-language', 'content-location'];

/**
 * Follows the Fetch standard: credentials stay with their origin, and 303 (in practice also 301 and 302) changes to
 * GET.
 */
function redirected(hop: Hop, status: number, location: string): Hop {
  const url = toUrl(location, hop.url);
  const toGet = status === 303 ? hop.method !== 'HEAD' : status <= 302 && hop.method === 'POST';
  const dropped = [...(url.origin === hop.url.origin ? [] : credentialHeaders), ...(toGet ? bodyHeaders : [])];
  const headers = Object.fromEntries(Object.entries(hop.headers).filter(([name]) => !dropped.includes(name)));
  return { url, method: toGet ? 'GET' : hop.method, headers, body: toGet ? undefined : hop.body };
}

async function requireTarget(guard: Guard, url: URL): Promise<Target> {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new EgressError('forbidden', 'only https is allowed', { detail: 'only-https' });
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  const named = guard.exceptions.some((exception) => exception.holdsHost(hostname, portOf(url)));
  const addresses = isIP(hostname) ? [hostname] : await resolve(guard, hostname);
  // A mix of public and internal addresses is an attack too, so every address must pass.
  for (const address of addresses) {
    const excepted = named || guard.exceptions.some((exception) => exception.holdsAddress(address));
    if (!excepted && url.protocol === 'http:')
      throw new EgressError('forbidden', 'only https is allowed', { detail: 'only-https' });
    if (!excepted && !isPublic(address))
      throw new EgressError('forbidden', 'the host has a special-use address', { detail: 'special-address' });
  }
  return { hostname, addresses };
}

const portOf = (url: URL) => Number(url.port || (url.protocol === 'https:' ? 443 : 80));

async function resolve(guard: Guard, hostname: string): Promise<string[]> {
  const addresses = await guard.lookup(hostname).catch((cause) => {
    throw new EgressError('unreachable', 'the host name cannot be resolved', { cause, detail: 'unresolved' });
  });
  if (!addresses.length || !addresses.every(isIP))
    throw new EgressError('unreachable', 'the host has no address', { detail: 'unresolved' });
  return addresses;
}

const nat64 = ipaddr.parseCIDR('64:ff9b::/96');
const globalUnicast = ipaddr.parseCIDR('2000::/3');

/**
 * True for ordinary addresses of the public internet. Loopback, private, link-local (cloud metadata), shared,
 * multicast, documentation and reserved ranges are not public, nor are 6to4 and Teredo, which tunnel to any IPv4
 * address.
 */
export function isPublic(text: string): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = unwrap(ipaddr.parse(text));
  if (address.range() !== 'unicast') return false;
  // Ranges that IANA has not allocated for global use may be routed internally.
  return address.kind() === 'ipv4' || address.match(globalUnicast);
}

/** The embedded IPv4 address of a mapped or NAT64 address decides, because packets go there. */
function unwrap(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | ipaddr.IPv6 {
  if (address.kind() === 'ipv4') return address;
  const v6 = address as ipaddr.IPv6;
  if (v6.isIPv4MappedAddress()) return v6.toIPv4Address();
  return v6.match(nat64) ? new ipaddr.IPv4(v6.toByteArray().slice(12)) : v6;
}

interface Exception {
  holdsAddress(address: string): boolean;
  holdsHost(hostname: string, port: number): boolean;
}

function toException(entry: string): Exception {
  return ipaddr.isValidCIDR(entry) ? networkException(entry) : hostException(entry);
}

function networkException(entry: string): Exception {
  const [network, bits] = ipaddr.parseCIDR(entry);
  return {
    holdsAddress(text) {
      const address = unwrap(ipaddr.parse(text));
      return address.kind() === network.kind() && address.match(network, bits);
    },
    holdsHost: () => false,
  };
}

function hostException(entry: string): Exception {
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(entry) ?? [];
  const url = host && URL.parse(`http://${host}/`);
  if (!url || url.port || url.username || Number(port) < 1 || Number(port) > 65_535)
    throw new Error(`neither a CIDR nor host:port: ${JSON.stringify(entry)}`);
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return {
    holdsAddress: () => false,
    holdsHost: (other, otherPort) => other === hostname && otherPort === Number(port),
  };
}

/** Sends one request and reads its response, without following redirects. */
async function exchange(
  guard: Guard,
  hop: Hop,
  target: Target,
  { bytesMax = 262_144, into, connections }: EgressOptions,
  signal: AbortSignal,
): Promise<EgressResponse> {
  try {
    const response = await send(guard, hop, target, signal, connections);
    const isStreamed = into && response.statusCode === 200;
    if (isStreamed) await into(atMost(response, bytesMax));
    const body = isStreamed ? Buffer.alloc(0) : await readBody(response, bytesMax);
    return { status: response.statusCode!, headers: response.headers, body, url: hop.url.href };
  } catch (error) {
    throw toEgressError(error, signal);
  }
}

function send(
  guard: Guard,
  hop: Hop,
  target: Target,
  signal: AbortSignal,
  connections?: KeptConnections,
): Promise<IncomingMessage> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const secure = hop.url.protocol === 'https:';
  const options: https.RequestOptions & { secureContext: SecureContext | undefined } = {
    method: hop.method,
    host: target.hostname,
    port: portOf(hop.url),
    path: hop.url.pathname + hop.url.search,
    // Never compressed: a small body could expand to a huge one.
    headers: { accept: '*/*', ...hop.headers, host: hop.url.host, 'accept-encoding': 'identity' },
    // Otherwise a new connection each time: a pooled one could lead to an address that was checked for another request.
    agent: connections?.[secure ? 'https' : 'http'] ?? false,
    lookup: pinned(target.addresses),
    servername: isIP(target.hostname) ? '' : target.hostname,
    secureContext: guard.secureContext,
    signal,
  };
  const request = (secure ? https : http).request(options, resolve);
  request.on('error', (error) => {
    // The server closed an idle connection at the moment of its next use.
    if (request.reusedSocket && !signal.aborted) resolve(send(guard, hop, target, signal));
    else reject(error);
  });
  request.end(hop.body);
  return promise;
}

/** Returns the addresses that were checked, whatever the name resolves to now. */
function pinned(addresses: string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_hostname, options, callback) => {
    if (options.all) callback(null, all);
    else callback(null, all[0]!.address, all[0]!.family);
  };
}

async function readBody(response: IncomingMessage, bytesMax: number): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(atMost(response, bytesMax)));
}

async function* atMost(response: IncomingMessage, bytesMax: number): AsyncGenerator<Buffer> {
  let bytes = 0;
  for await (const chunk of response) {
    bytes += chunk.length;
    // Leaving the loop destroys the connection, so the rest is not received.
    if (bytes > bytesMax) throw new EgressError('too-large', `the answer is longer than ${bytesMax} bytes`);
    yield chunk;
  }
}

function toEgressError(error: unknown, signal: AbortSignal): EgressError {
  if (error instanceof EgressError) return error;
  if (signal.aborted) return signal.reason;
  if ((error as NodeJS.ErrnoException).code === 'HPE_HEADER_OVERFLOW')
    return new EgressError('too-large', 'the headers of the answer are too long', { cause: error });
  return new EgressError('unreachable', 'the server cannot be reached or broke off', { cause: error });
}
