import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { localCertificate } from '../../src/platform/http/certificate.ts';
import { LINKED_PORTALS } from '../../src/platform/vocabulary/game-platforms.ts';
import { temporaryFolder } from '../temporary.ts';

/** What can go wrong with one request. In the last three the store has done what it was asked. */
export const FAULTS = ['busy', 'hang up', 'time out', 'lose the answer', 'answer too late', 'answer garbage'] as const;
export type Fault = (typeof FAULTS)[number] | 'refuse' | 'reject';

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
  readonly form: URLSearchParams;
  readonly text: string;
}

export interface Reply {
  readonly status?: number;
  readonly json?: unknown;
  /** In place of JSON. */
  readonly xml?: string;
}

type Route = { step: string; matches: (asked: Asked) => boolean; answer: (asked: Asked) => Reply | Promise<Reply> };

/** The servers of all stores. */
export class StoreServer {
  readonly settings: Record<string, string>;
  readonly asked: { readonly step: string; readonly asked: Asked }[] = [];
  readonly #routes: Route[] = [];
  readonly #faults: { step: string; fault: Fault }[] = [];

  constructor(url: string, ca?: string) {
    this.settings = {
      MODSTEAD_PORTAL_ADDRESSES: LINKED_PORTALS.map((portal) => `${portal}=${url}`).join(','),
      MODSTEAD_EGRESS_ALLOW: '127.0.0.1/32',
      ...(ca && { MODSTEAD_EGRESS_CA: ca }),
    };
  }

  on(step: string, method: string, path: RegExp, answer: Route['answer']): void {
    const matches = (asked: Asked) => asked.method === method && path.test(asked.path);
    this.#routes.push({ step, matches, answer });
  }

  /** The next request of this step fails. */
  fail(step: string, fault: Fault): void {
    this.#faults.push({ step, fault });
  }

  forgetFaults(): void {
    this.#faults.length = 0;
  }

  /** All planned faults have happened. */
  get isSound(): boolean {
    return this.#faults.length === 0;
  }

  times(step: string): number {
    return this.asked.filter((each) => each.step === step).length;
  }

  async answer(asked: Asked, response: ServerResponse): Promise<void> {
    const route = this.#routes.find(({ matches }) => matches(asked));
    const step = route?.step ?? 'unknown';
    this.asked.push({ step, asked });
    const planned = this.#faults.findIndex((each) => each.step === step);
    const fault = planned < 0 ? undefined : this.#faults.splice(planned, 1)[0]!.fault;
    if (fault === 'busy') return send(response, { status: 503, json: {} });
    if (fault === 'refuse') return send(response, { status: 403, json: { error: 'forbidden' } });
    if (fault === 'reject') return send(response, { status: 400, json: { error: 'invalid' } });
    if (fault === 'hang up') return void response.socket?.destroy();
    if (fault === 'time out') return;
    const reply = (await route?.answer(asked)) ?? { status: 404, json: {} };
    if (fault === 'lose the answer') return void response.socket?.destroy();
    if (fault === 'answer too late') return;
    if (fault === 'answer garbage') return void response.end('<html>');
    send(response, reply);
  }
}

function send(response: ServerResponse, { status = 200, json, xml }: Reply): void {
  response.writeHead(status, { 'content-type': xml === undefined ? 'application/json' : 'application/xml' });
  response.end(xml ?? (json === undefined ? '' : JSON.stringify(json)));
}

/** Each TLS connection costs a tenth of a second, so tests with many requests may do without. */
export async function startStoreServer({ secure = true } = {}): Promise<StoreServer> {
  const { file, ...certificate } = await localCertificate(temporaryFolder('stores'), 'localhost');
  let stores: StoreServer;
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { pathname, searchParams } = new URL(request.url!, 'https://stores.test');
    const text = Buffer.concat(chunks).toString('utf8');
    await stores.answer(
      {
        method: request.method!,
        path: pathname,
        query: searchParams,
        headers: request.headers,
        form: new URLSearchParams(text),
        text,
      },
      response,
    );
  };
  const server = secure ? createSecureServer(certificate, listener) : createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  stores = secure ? new StoreServer(`https://${host}`, file) : new StoreServer(`http://${host}`);
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  return stores;
}
