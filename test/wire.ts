import { readFileSync } from 'node:fs';
import { connect as connectPlain, type Socket } from 'node:net';
import { join } from 'node:path';
import { type ConnectionOptions, connect as connectSecure, type TLSSocket } from 'node:tls';
import { composeService, type Service } from '../src/composition/compose.ts';
import { createAuthenticator } from '../src/platform/access/authenticate.ts';
import { createGate } from '../src/platform/access/gate.ts';
import type { Settings } from '../src/platform/config/settings.ts';
import type { Database } from '../src/platform/database/database.ts';
import { localCertificate } from '../src/platform/http/certificate.ts';
import type { LingeringLimits } from '../src/platform/http/lingering-close.ts';
import type { AnyOperation } from '../src/platform/http/operation.ts';
import { openPort, type Port } from '../src/platform/http/port.ts';
import { createServer } from '../src/platform/http/server.ts';
import { createTransfers } from '../src/platform/http/transfer/transfer.ts';
import { createLimiter } from '../src/platform/limits/limits.ts';
import { type LeaseRequest, memoryStore } from '../src/platform/limits/store.ts';
import type { Api } from './api.ts';

export interface WireAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: the body of any response
  readonly body: any;
  readonly ref: number | undefined;
}

export interface WireOptions {
  readonly tls?: ConnectionOptions | 'off';
  readonly port?: number;
}

/** A connection on which a test writes raw bytes. */
export class Wire {
  readonly socket: Socket;
  readonly #closed: Promise<void>;
  #received = Buffer.alloc(0);
  #isOver = false;
  #wake = () => {};

  constructor(socket: Socket) {
    this.socket = socket;
    this.#closed = new Promise((resolve) => {
      socket.once('close', () => {
        this.#isOver = true;
        resolve();
        this.#wake();
      });
    });
    socket.on('error', () => {});
    socket.on('end', () => {
      this.#isOver = true;
      this.#wake();
    });
    socket.on('data', (chunk: Buffer) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#wake();
    });
  }

  static async open(api: Api, { tls = {}, port = api.port }: WireOptions = {}): Promise<Wire> {
    const there = { host: '127.0.0.1', port };
    const ca = readFileSync(api.service.certificateFile!);
    const socket =
      tls === 'off' ? connectPlain(there) : connectSecure({ ...there, ca, servername: 'localhost', ...tls });
    await new Promise<void>((resolve, reject) => {
      socket.once(tls === 'off' ? 'connect' : 'secureConnect', () => resolve());
      socket.once('error', reject);
    });
    return new Wire(socket);
  }

  get tls(): TLSSocket {
    return this.socket as TLSSocket;
  }

  write(...bytes: (string | Buffer)[]): this {
    this.socket.write(Buffer.concat(bytes.map((piece) => Buffer.from(piece as string))));
    return this;
  }

  /** The next response; one without Content-Length fails, as in the C++ SDK. */
  async answer(method = 'GET'): Promise<WireAnswer> {
    const end = await this.#until(() => {
      const at = this.#received.indexOf('\r\n\r\n');
      return at === -1 ? undefined : at;
    });
    const { status, headers } = headOf(this.#received.subarray(0, end).toString('latin1'));
    this.#received = this.#received.subarray(end + 4);
    const isEmpty = status === 204 || status === 304 || status < 200 || method === 'HEAD';
    const bytes = isEmpty ? 0 : Number(headers['content-length']);
    if (Number.isNaN(bytes)) throw new Error(`a response without Content-Length: ${JSON.stringify(headers)}`);
    await this.#until(() => (this.#received.length >= bytes ? true : undefined));
    const text = this.#received.subarray(0, bytes).toString();
    this.#received = this.#received.subarray(bytes);
    const body = headers['content-type']?.startsWith('application/json') && text ? JSON.parse(text) : undefined;
    if (body?.error?.error_ref === 0) throw new Error(`shipped clients treat this as success: ${text}`);
    return { status, headers, text, body, ref: body?.error?.error_ref };
  }

  /** The bytes that arrive until the server closes the connection. */
  async rest(): Promise<string> {
    await this.#until(() => (this.#isOver ? true : undefined));
    return this.#received.toString();
  }

  async close(): Promise<void> {
    this.socket.destroy();
    await this.#closed;
  }

  async #until<T>(found: () => T | undefined): Promise<T> {
    for (;;) {
      const value = found();
      if (value !== undefined) return value;
      if (this.#isOver) throw new Error(`the connection ended after: ${this.#received.toString()}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

function headOf(text: string): { status: number; headers: Record<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  const pairs = lines.map((line) => [
    line.slice(0, line.indexOf(':')).toLowerCase(),
    line.slice(line.indexOf(':') + 2),
  ]);
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(pairs) };
}

/** Sends one request on a new connection. */
export async function exchange(api: Api, bytes: string | Buffer, options: WireOptions = {}): Promise<WireAnswer> {
  const wire = await Wire.open(api, options);
  try {
    return await wire.write(bytes).answer(String(bytes).slice(0, 4) === 'HEAD' ? 'HEAD' : 'GET');
  } finally {
    await wire.close();
  }
}

/** The bytes of a request; adds Content-Length for a body unless a length is given. */
export function requestOf(line: string, headers: Record<string, string>, body: string | Buffer = ''): Buffer {
  const bytes = Buffer.from(body as string);
  const given = Object.keys(headers).some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  const all = { Host: 'localhost', ...headers, ...(bytes.length > 0 && !given && { 'Content-Length': bytes.length }) };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`), bytes]);
}

/** The number of requests that the service has completed. */
export function requestsSeen(api: Api): number {
  api.app().log.flush();
  return api.logLines.filter((line) => line.includes('"message":"request"')).length;
}

/** Serves operations of a test on the databases of the api, on a separate port. Limits count in this process. */
export async function serveOperations(
  api: Api,
  operations: readonly AnyOperation[],
  settings: Partial<Settings> = {},
  lingering?: LingeringLimits,
): Promise<Port> {
  const all = { ...api.app().settings, ...settings };
  const tenantOf = (environment: 'production' | 'sandbox') => {
    const app = api.app(environment);
    const store = memoryStore();
    // As of a database that has to be awaited.
    const awaited = { ...store, lease: async (request: LeaseRequest) => store.lease(request) };
    const limiter = all.rateLimits === 'off' ? undefined : createLimiter({ ...app, store: awaited });
    return { app, authenticator: createAuthenticator(app), gate: createGate(app), limiter };
  };
  const listener = createServer({
    settings: all,
    tenants: { production: tenantOf('production'), sandbox: tenantOf('sandbox') },
    operations,
    systemRoutes: () => false,
    transfers: createTransfers(api.app().random),
    draining: new AbortController().signal,
    count: () => {},
  });
  const { file: _, ...tls } = await localCertificate(join(api.folder, 'tls'), all.domain);
  const connectionsMax = () => all.connectionsPerAddress;
  return openPort({ listener, tls, port: 0, bind: '127.0.0.1', connectionsMax, ...(lingering && { lingering }) });
}

/** Repeats the check after each received change until it is true. */
export async function untilReceived(
  { changes }: Pick<Database, 'changes'>,
  isSo: () => Promise<boolean>,
): Promise<void> {
  for (;;) {
    const { promise: heard, resolve } = Promise.withResolvers<void>();
    const stop = changes.listen(() => resolve());
    try {
      if (await isSo()) return;
      await heard;
    } finally {
      stop();
    }
  }
}

/** A second service on the same databases and folder, like another process. */
export function anotherService(api: Api, settings: Partial<Settings> = {}): Promise<Service> {
  const { clock, random, log } = api.app();
  return composeService({ ...api.app().settings, ...settings }, { clock, random, log });
}
