import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type RawData, type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { NOBODY } from '../access/caller.ts';
import { BANS_SCOPE } from '../access/gate.ts';
import { type HostScope, hostScope, isOwnHost } from '../config/addresses.ts';
import type { Settings } from '../config/settings.ts';
import { ApiError } from '../errors/catalogue.ts';
import type { Language } from '../localisation/languages.ts';
import { clientAddress, limitedAddress, peerOf } from './address.ts';
import { COMMON_HEADERS, errorBody, toApiError } from './answer.ts';
import { type AccessCheck, isUnambiguous, languageFor, type Tenant, type Tenants } from './exchange.ts';
import type { Observe } from './outcome.ts';
import { takeForAddress, takeForPage } from './rate-limit-buckets.ts';
import type { SocketConnection, SocketOperation } from './socket-operation.ts';

/** Shipped clients use a read buffer of this size, and send much less. */
const MESSAGE_BYTES_MAX = 4_096;
const MESSAGES_AT_ONCE_MAX = 10;
const OPERATIONS_PER_MINUTE = 20;
const SOCKETS_PER_ADDRESS = 50;
const PING_MS = 20_000;
/** Two missed pings and some slack. */
const SILENCE_MS = 50_000;
/** A connection that waits for nothing is closed after this time. */
const IDLE_MS = 60_000;
const MINUTE_MS = 60_000;

const NORMAL = 1000;
const GOING_AWAY = 1001;
const POLICY = 1008;

export interface SocketsParts {
  readonly settings: Settings;
  readonly tenants: Tenants;
  readonly operations: readonly SocketOperation[];
  readonly accessCheck?: AccessCheck | undefined;
  readonly observe: Observe | undefined;
}

/** WebSockets on the API's port. */
export interface Sockets {
  /** True when this request asks for an upgrade on a WebSocket path. */
  wants(request: IncomingMessage): boolean;
  take(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes all connections. */
  drain(): void;
}

export const isSocketPath = (path: string, { isSocket }: HostScope): boolean =>
  path === '/ws' || (isSocket === true && path === '/');

const pathOf = ({ url = '/' }: IncomingMessage): string => url.split('?', 1)[0]!;

export function createSockets({ settings, tenants, operations, accessCheck, observe }: SocketsParts): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: MESSAGE_BYTES_MAX, perMessageDeflate: false });
  const byName = new Map([...operations, heartbeat].map((operation) => [operation.name, operation]));
  const open = new Set<Connection>();
  let isDraining = false;
  const sweep = () => {
    for (const connection of open) connection.look();
  };
  const sweeping = setInterval(sweep, PING_MS).unref();
  // A ban also closes open connections.
  for (const { app } of Object.values(tenants))
    app.db.changes.listen((scope) => {
      if (scope === undefined || scope === BANS_SCOPE) for (const connection of open) connection.endIfBanned();
    });

  async function admit(request: IncomingMessage, scope: HostScope): Promise<Opening> {
    const tenant = tenants[scope.environment];
    const ip = clientAddress(request, settings.trustProxy);
    requirePublicAddress(settings, request);
    await tenant.gate.requireOpen(ip);
    await accessCheck?.(tenant.app, request);
    await takeForAddress(settings.rateLimits, { tenant, ip, caller: NOBODY }, true);
    const holder = limitedAddress(ip);
    const held = [...open].filter((connection) => connection.holder === holder).length;
    if (isDraining) throw new ApiError('UNEXPECTED_SERVICE_OUTAGE');
    if (held >= SOCKETS_PER_ADDRESS) throw new ApiError('WS_TOO_MANY_OPERATION_REQUESTS');
    return { tenant, ip, holder, language: languageFor(request, NOBODY), hostGameId: scope.gameId };
  }

  function begin(webSocket: WebSocket, opening: Opening): void {
    const connection = new Connection(webSocket, opening, { settings, byName, observe });
    open.add(connection);
    webSocket.once('close', () => open.delete(connection));
  }

  return {
    wants: (request) =>
      request.headers.upgrade?.toLowerCase() === 'websocket' &&
      isSocketPath(pathOf(request), hostScope(request.headers.host, settings.domain)),
    take(request, socket, head) {
      socket.on('error', () => socket.destroy());
      sweep();
      const scope = hostScope(request.headers.host, settings.domain);
      admit(request, scope).then(
        (opening) => server.handleUpgrade(request, socket, head, (webSocket) => begin(webSocket, opening)),
        (cause) => {
          const error = toApiError(cause);
          observe?.({ operation: undefined, status: error.status, body: undefined, error });
          refuse(socket, error, languageFor(request, NOBODY));
        },
      );
    },
    drain() {
      isDraining = true;
      clearInterval(sweeping);
      for (const connection of open) connection.close(GOING_AWAY);
    },
  };
}

/**
 * Games send no Origin and one of our host names. A foreign Origin means that a page opened the socket without its
 * user's intent; a foreign host means an unknown proxy.
 */
function requirePublicAddress({ trustProxy, domain }: Settings, request: IncomingMessage): void {
  const { origin, host } = request.headers;
  const peer = peerOf(request.socket, trustProxy);
  const isSecure = peer.encrypted || (peer.trusted && request.headers['x-forwarded-proto'] === 'https');
  if (!isSecure) throw new ApiError('HTTPS_REQUIRED');
  if (!isUnambiguous(request)) throw new ApiError('REQUEST_MALFORMED');
  const isOwnOrigin = origin === undefined || (URL.canParse(origin) && isOwnHost(new URL(origin).host, domain));
  if (!isOwnOrigin || !isOwnHost(host, domain)) throw new ApiError('WS_INVALID_PROXY_REFERRER');
}

/** The error response to a rejected upgrade. */
function refuse(socket: Duplex, error: ApiError, language: Language): void {
  const body = JSON.stringify(errorBody(error, language));
  const retry = error.retryAfterSeconds === undefined ? [] : ['retry-after', String(error.retryAfterSeconds)];
  const headers = [
    ...COMMON_HEADERS,
    'content-length',
    String(Buffer.byteLength(body)),
    'connection',
    'close',
    ...retry,
  ];
  const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1]}`] : []));
  socket.end(`HTTP/1.1 ${error.status} Refused\r\n${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Resets the idle timer. */
const heartbeat: SocketOperation = {
  name: 'heartbeat',
  limit: 0,
  says: 'Answers the same.',
  handle: async () => ({}),
};

const Messages = z.object({
  messages: z
    .array(z.object({ operation: z.string(), context: z.record(z.string(), z.unknown()).nullish() }))
    .min(1)
    .max(MESSAGES_AT_ONCE_MAX),
});

interface Opening {
  readonly tenant: Tenant;
  readonly ip: string;
  readonly holder: string;
  readonly language: Language;
  readonly hostGameId: number | undefined;
}

interface Surroundings {
  readonly settings: Settings;
  readonly byName: ReadonlyMap<string, SocketOperation>;
  readonly observe: Observe | undefined;
}

class Connection implements SocketConnection {
  readonly holder: string;
  readonly hostGameId: number | undefined;
  readonly language: Language;
  readonly #webSocket: WebSocket;
  readonly #opening: Opening;
  readonly #surroundings: Surroundings;
  readonly #over = new AbortController();
  #waiting = 0;
  #heard: number;
  #asked: number;
  /** Times of the operations in the last minute. */
  #recent: number[] = [];

  constructor(webSocket: WebSocket, opening: Opening, surroundings: Surroundings) {
    this.#webSocket = webSocket;
    this.#opening = opening;
    this.#surroundings = surroundings;
    this.holder = opening.holder;
    this.hostGameId = opening.hostGameId;
    this.language = opening.language;
    this.#heard = this.#asked = this.#now();
    const heard = () => {
      this.#heard = this.#now();
    };
    webSocket.on('ping', heard);
    webSocket.on('pong', heard);
    webSocket.on('message', (data, isBinary) => void this.#receive(data, isBinary));
    // On an invalid or oversized frame the library itself closes the connection with the reason.
    webSocket.on('error', () => {});
    webSocket.once('close', () => this.#over.abort());
  }

  get signal(): AbortSignal {
    return this.#over.signal;
  }

  #now = (): number => this.#opening.tenant.app.clock.monotonicMs();

  /** Closes dead and idle connections, and pings the others. */
  look(): void {
    const now = this.#now();
    if (now - this.#heard > SILENCE_MS && now - this.#asked > SILENCE_MS) this.#webSocket.terminate();
    else if (this.#waiting === 0 && now - this.#asked > IDLE_MS) this.close(NORMAL);
    else this.#webSocket.ping();
  }

  endIfBanned(): void {
    const { tenant, ip } = this.#opening;
    const end = () => this.close(POLICY);
    try {
      void tenant.gate.requireOpen(ip)?.catch(end);
    } catch {
      end();
    }
  }

  close(code: number): void {
    this.#webSocket.close(code);
  }

  send(operation: string, context: object): void {
    this.#webSocket.send(JSON.stringify({ messages: [{ operation, context }] }));
  }

  fail(operation: string, cause: unknown): void {
    const error = toApiError(cause);
    const { observe } = this.#surroundings;
    if (error.status >= 500)
      this.#opening.tenant.app.log.error('socket operation failed', { operation, error: error.cause });
    observe?.({ operation: undefined, status: error.status, body: undefined, error });
    this.send('failed_operation', { operation, ...errorBody(error, this.language) });
  }

  async #receive(data: RawData, isBinary: boolean): Promise<void> {
    this.#heard = this.#now();
    const messages = isBinary ? undefined : readMessages(data);
    if (!messages) {
      if (this.#isTooMany()) return this.close(POLICY);
      return this.fail('', new ApiError('WS_INVALID_OPERATION'));
    }
    for (const { operation, context } of messages) {
      if (this.#isFlood()) return this.close(POLICY);
      await this.#operate(operation, context ?? {}).catch((error) => this.fail(operation, error));
    }
  }

  async #operate(name: string, context: Readonly<Record<string, unknown>>): Promise<void> {
    const { settings, byName } = this.#surroundings;
    if (this.#isTooMany()) throw new ApiError('WS_TOO_MANY_OPERATION_REQUESTS');
    const operation = byName.get(name);
    if (!operation) throw new ApiError('WS_INVALID_OPERATION');
    this.#asked = this.#now();
    const { tenant, ip } = this.#opening;
    if (operation.limit > 0) {
      const counted = { id: `socket-${name}`, limit: operation.limit };
      await takeForPage(settings.rateLimits, { tenant, ip, caller: NOBODY }, counted)?.catch((cause) => {
        throw new ApiError('WS_TOO_MANY_OPERATION_REQUESTS', { cause });
      });
    }
    this.send(name, await operation.handle(tenant.app, context, this, (work) => this.#await(work)));
  }

  #await(work: Promise<unknown>): void {
    this.#waiting += 1;
    const done = () => {
      this.#waiting -= 1;
      this.#asked = this.#now();
    };
    work.then(done, done);
  }

  #isTooMany(): boolean {
    const now = this.#now();
    this.#recent = [...this.#recent.filter((moment) => now - moment < MINUTE_MS), now];
    return this.#recent.length > OPERATIONS_PER_MINUTE;
  }

  /** A client that continues after the error gets no second one. */
  #isFlood = (): boolean => this.#recent.length > 2 * OPERATIONS_PER_MINUTE;
}

function readMessages(data: RawData): z.output<typeof Messages>['messages'] | undefined {
  try {
    return Messages.parse(JSON.parse(String(data))).messages;
  } catch {
    return undefined;
  }
}
