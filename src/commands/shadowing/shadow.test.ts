// Runs on one database: it tests a proxy.
import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startShadow, textOf } from './run.ts';

interface Seen {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, unknown>;
  readonly sha256: string;
}

/** A service that answers as the table says, and remembers what it received. */
async function aService(
  answers: (url: string) => { status?: number; headers?: Record<string, string>; body: string | Buffer },
) {
  const seen: Seen[] = [];
  const server = createServer((incoming, outgoing) => {
    const hash = createHash('sha256');
    incoming.on('data', (chunk) => hash.update(chunk));
    incoming.on('end', () => {
      const { method, url, headers } = incoming;
      seen.push({ method: method!, url: url!, headers, sha256: hash.digest('hex') });
      const { status = 200, headers: more = {}, body } = answers(url!);
      outgoing.writeHead(status, 'As It Is', { 'content-type': 'application/json', 'X-Own': 'Kept', ...more });
      outgoing.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  after(() => server.closeAllConnections());
  return { seen, url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`) };
}

async function aShadow(old: URL, fresh: URL, ignored: string[] = []) {
  const options = { fresh, key: 'new-key', parallel: 2, ignored: new Set(ignored) };
  const shadow = await startShadow(old, options, { host: '127.0.0.1', port: 0 });
  after(() => shadow.close());
  const send = (method: string, path: string, headers: Record<string, string> = {}, body?: Buffer) =>
    new Promise<{ status: number; message: string; raw: string[]; bytes: Buffer }>((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port: shadow.port, method, path, headers, agent: false });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        const chunks: Buffer[] = [];
        incoming.on('data', (chunk) => chunks.push(chunk));
        incoming.on('end', () =>
          resolve({
            status: incoming.statusCode!,
            message: incoming.statusMessage!,
            raw: incoming.rawHeaders,
            bytes: Buffer.concat(chunks),
          }),
        );
      });
      outgoing.end(body);
    });
  return { shadow, send };
}

const mod = (id: number, more: object = {}) => ({
  id,
  name: `Mod ${id}`,
  profile_url: 'https://old.example/m/a',
  date_expires: id,
  ...more,
});
const page = (...data: object[]) => JSON.stringify({ data, result_total: data.length });

test('clients get the bytes of the old service, and only reads reach the new one, without credentials of users', async () => {
  const compressed = gzipSync(page(mod(1)));
  const old = await aService(() => ({
    headers: { 'content-encoding': 'gzip', 'content-length': String(compressed.length) },
    body: compressed,
  }));
  const fresh = await aService(() => ({
    body: page(mod(1, { profile_url: 'https://new.example/x', date_expires: 99 })),
  }));
  const { shadow, send } = await aShadow(old.url, fresh.url);
  const headers = {
    authorization: 'Bearer secret-of-a-user',
    connection: 'x-hop',
    'x-hop': 'gone',
    'X-Modio-Platform': 'Windows',
  };
  const answer = await send('GET', '/v1/games/1/mods?api_key=old-key&_q=a%20b', headers);
  assert.deepEqual([answer.status, answer.message, answer.bytes.equals(compressed)], [200, 'As It Is', true]);
  assert.ok(answer.raw.includes('X-Own'));
  const upload = randomBytes(3 * 1024 * 1024);
  await send('POST', '/v1/games/1/mods?api_key=old-key', { 'content-type': 'application/octet-stream' }, upload);
  await send('DELETE', '/v1/games/1/mods/1');
  await send('GET', '/v1/me/subscribed', headers);
  await shadow.finished();
  assert.equal(old.seen[0]!.url, '/v1/games/1/mods?api_key=old-key&_q=a%20b');
  assert.equal(old.seen[0]!.headers['authorization'], headers.authorization);
  assert.equal(old.seen[0]!.headers['x-hop'], undefined);
  assert.equal(old.seen[1]!.sha256, createHash('sha256').update(upload).digest('hex'));
  assert.deepEqual(
    fresh.seen.map(({ method, url }) => `${method} ${url}`),
    ['GET /v1/games/1/mods?_q=a+b&api_key=new-key'],
  );
  assert.equal(fresh.seen[0]!.headers['authorization'], undefined);
  assert.equal(fresh.seen[0]!.headers['x-modio-platform'], 'Windows');
  const report = shadow.report();
  assert.deepEqual([report.reads, report.equal, report.ofUsers, report.differences], [2, 1, 1, []]);
});

test('differences are reported by operation and field, with their number and an example without credentials', async () => {
  const body = (url: string, own: boolean) => {
    if (url.includes('/gone')) return { status: own ? 200 : 404, body: '{}' };
    return {
      body: own
        ? page(mod(1, { price: 0, tags: ['a'], stats: { downloads_today: 1 } }), mod(2))
        : page(mod(1, { name: 'Other', price: '0', tags: [], stats: { downloads_today: 5 } }), mod(3)),
    };
  };
  const old = await aService((url) => body(url, true));
  const fresh = await aService((url) => body(url, false));
  const { shadow, send } = await aShadow(old.url, fresh.url, ['data[].stats.downloads_today']);
  for (const game of [1, 2]) await send('GET', `/v1/games/${game}/mods?api_key=secret-key`);
  await send('GET', '/v1/games/1/gone');
  await shadow.finished();
  const report = shadow.report();
  const found = report.differences.map(
    ({ operation, field, problem, count }) => `${count} ${operation} ${field} ${problem}`,
  );
  assert.deepEqual(found.sort(), [
    '1 GET /v1/games/{id}/gone (status) differs',
    '2 GET /v1/games/{id}/mods data[] is additional',
    '2 GET /v1/games/{id}/mods data[] is missing',
    '2 GET /v1/games/{id}/mods data[].name differs',
    '2 GET /v1/games/{id}/mods data[].price number became string',
    '2 GET /v1/games/{id}/mods data[].tags[] has another length',
  ]);
  assert.deepEqual([report.different, report.equal], [3, 0]);
  for (const text of [JSON.stringify(report), textOf(report)]) assert.ok(!/secret-key|new-key/.test(text), text);
});

test('a new service that does not answer costs clients nothing, and an old one that does not is 502', async () => {
  const gone = new URL('http://127.0.0.1:9');
  const old = await aService(() => ({ body: page(mod(1)) }));
  const { shadow, send } = await aShadow(old.url, gone);
  assert.equal((await send('GET', '/v1/games')).status, 200);
  await shadow.finished();
  assert.equal(shadow.report().unreachable, 1);
  const { send: sendToNobody } = await aShadow(gone, old.url);
  assert.equal((await sendToNobody('GET', '/v1/games')).status, 502);
});
