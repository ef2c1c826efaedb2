import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { Readable } from 'node:stream';
import { after } from 'node:test';
import { type Client, type ClientOptions, createClient } from '../../client/src/index.ts';
import type { Api } from '../api.ts';

/** A `fetch` over real sockets that trusts the service's own certificate and finds every host name at 127.0.0.1. */
export function fetchOf(api: Api): typeof fetch {
  const agent = new Agent({ keepAlive: true, ca: readFileSync(api.service.certificateFile!) });
  after(() => agent.destroy());
  return async (input, init) => {
    // The object storage of the test.
    if (String(input).startsWith('http://127.0.0.1')) return fetch(input, init);
    const wanted = new Request(input, init);
    const body = Buffer.from(await wanted.arrayBuffer());
    const { hostname, pathname, search } = new URL(wanted.url);
    wanted.signal.throwIfAborted();
    return new Promise<Response>((resolve, reject) => {
      const outgoing = request({
        agent,
        method: wanted.method,
        host: '127.0.0.1',
        port: api.port,
        servername: hostname,
        path: pathname + search,
        headers: { ...Object.fromEntries(wanted.headers), ...lengthOf(wanted, body), host: `${hostname}:${api.port}` },
        signal: wanted.signal,
      });
      outgoing.on('error', (error) => reject(wanted.signal.aborted ? wanted.signal.reason : error));
      outgoing.on('response', (incoming) => {
        const status = incoming.statusCode!;
        const hasBody = status !== 204 && status !== 304;
        if (!hasBody) incoming.resume();
        resolve(
          new Response(hasBody ? (Readable.toWeb(incoming) as globalThis.ReadableStream) : null, {
            status,
            headers: Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]),
          }),
        );
      });
      outgoing.end(body);
    });
  };
}

const lengthOf = ({ method }: Request, { length }: Buffer) => (method === 'GET' ? {} : { 'content-length': length });

/** The client under test, connected to the service of the test. */
export const clientOf = (api: Api, options: Partial<ClientOptions> = {}): Client =>
  createClient({ url: api.app().addresses.site, fetch: fetchOf(api), ...options });
