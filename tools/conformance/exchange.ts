import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect as connectPlain } from 'node:net';
import { connect as connectTls, rootCertificates } from 'node:tls';

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly bytes: Buffer;
  /** Undefined if the body is no JSON. */
  readonly json: unknown;
}

export interface Asked {
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** The server under test. Redirects are followed by the checks that expect them. */
export interface Server {
  readonly base: URL;
  /** Where all connections go, whatever host an address names; for staging servers and proxies. */
  readonly connect?: URL | undefined;
  readonly timeoutMs: number;
  /** Certificates of authorities, besides those that Node.js trusts. */
  readonly ca?: string | undefined;
}

const trusted = ({ ca }: Server) => (ca === undefined ? {} : { ca: [...rootCertificates, ca] });

export const jsonOf = (bytes: Buffer): unknown => {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
};

/** An address below the base, or an absolute one from a response. */
export function addressOf({ base }: Server, target: string, query: Asked['query'] = {}): URL {
  const url = /^https?:/.test(target) ? new URL(target) : new URL(base.href.replace(/\/$/, '') + target);
  for (const [name, value] of Object.entries(query)) url.searchParams.append(name, value);
  return url;
}

export function exchange(server: Server, method: string, target: string, asked: Asked = {}): Promise<Reply> {
  const url = addressOf(server, target, asked.query);
  const to = server.connect ?? url;
  const isTls = to.protocol === 'https:';
  const headers: Record<string, string> = { accept: 'application/json', host: url.host, ...asked.headers };
  if (asked.body !== undefined) headers['content-length'] = String(Buffer.byteLength(asked.body));
  return new Promise((resolve, reject) => {
    const outgoing = (isTls ? httpsRequest : httpRequest)({
      method,
      host: to.hostname,
      port: to.port || (isTls ? 443 : 80),
      ...(isTls && { servername: url.hostname, ...trusted(server) }),
      path: url.pathname + url.search,
      headers,
      agent: false,
      timeout: server.timeoutMs,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error(`no answer within ${server.timeoutMs} ms`)));
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({ status: incoming.statusCode!, headers: incoming.headers, bytes, json: jsonOf(bytes) });
      });
    });
    outgoing.end(asked.body);
  });
}

/** The status of a request whose line no HTTP library would send. */
export function statusOfRaw(server: Server, path: string): Promise<number> {
  const { base, connect: other, timeoutMs } = server;
  const to = other ?? base;
  const isTls = to.protocol === 'https:';
  const port = Number(to.port || (isTls ? 443 : 80));
  const head = `GET ${base.pathname.replace(/\/$/, '')}${path} HTTP/1.1\r\nhost: ${base.host}\r\naccept: application/json\r\nconnection: close\r\n\r\n`;
  return new Promise((resolve, reject) => {
    const socket = isTls
      ? connectTls({ host: to.hostname, port, servername: base.hostname, ...trusted(server) })
      : connectPlain({ host: to.hostname, port });
    let text = '';
    socket.setTimeout(timeoutMs, () => socket.destroy(new Error(`no answer within ${timeoutMs} ms`)));
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      const [, status] = /^HTTP\/1\.[01] (\d{3})/.exec(text) ?? [];
      if (status === undefined) return;
      socket.destroy();
      resolve(Number(status));
    });
    socket.on('end', () => reject(new Error('the connection ended without an answer')));
    socket.write(head);
  });
}
