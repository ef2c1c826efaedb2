import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';

/** Headers that node:http adds itself. */
const OWN_HEADERS = new Set(['date', 'connection', 'keep-alive']);

/** node:http, which sends what the service sent and does nothing else. */
export interface Baseline {
  readonly process: ChildProcess;
  readonly port: number;
  /** From now on it sends the bytes with which the service on this port answers the request now, and returns their body. */
  learn(port: number, path: string, headers?: Record<string, string>): Promise<Buffer>;
}

export async function startBaseline(): Promise<Baseline> {
  const child = fork(join(import.meta.dirname, 'raw.ts'));
  const [{ port }] = (await once(child, 'message')) as [{ port: number }];
  return {
    process: child,
    port,
    async learn(from, path, headers = {}) {
      const answer = await answerOf(from, path, headers);
      const learnt = once(child, 'message');
      child.send({ url: path, headers: answer.headers, body: answer.body.toString('base64') });
      await learnt;
      return answer.body;
    },
  };
}

const answerOf = (port: number, path: string, headers: Record<string, string>) =>
  new Promise<{ headers: string[]; body: Buffer }>((resolve, reject) => {
    // Pages are on this host alone.
    const sent = { host: 'localhost', 'x-forwarded-proto': 'https', accept: 'application/json', ...headers };
    request({ port, host: '127.0.0.1', path, headers: sent }, (response) => {
      if (response.statusCode !== 200) return reject(new Error(`${path} was answered with ${response.statusCode}`));
      const chunks: Buffer[] = [];
      const own = response.rawHeaders.flatMap((name, i) =>
        i % 2 === 0 && !OWN_HEADERS.has(name.toLowerCase()) ? [name, response.rawHeaders[i + 1]!] : [],
      );
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ headers: own, body: Buffer.concat(chunks) }));
    })
      .on('error', reject)
      .end();
  });
