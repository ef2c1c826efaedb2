import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import http, { type IncomingMessage, type RequestListener, type Server } from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { localCertificate } from '../http/certificate.ts';
import { createEgress, EgressError, type EgressReason, isPublic, KeptConnections } from './egress.ts';

const loopback = ['127.0.0.0/8'];

async function listen(t: TestContext, server: Server | net.Server): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => {
    if (server instanceof http.Server || server instanceof https.Server) server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function aSite(
  t: TestContext,
  answer: RequestListener,
): Promise<{ url: string; port: number; seen: IncomingMessage[] }> {
  const seen: IncomingMessage[] = [];
  const server = http.createServer((request, response) => {
    seen.push(request);
    answer(request, response);
  });
  const port = await listen(t, server);
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

async function aSecureSite(t: TestContext, answer: RequestListener): Promise<{ port: number; ca: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), 'modstead-egress-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const certificate = await localCertificate(folder, 'idp.example');
  const port = await listen(t, https.createServer({ ...certificate }, answer));
  return { port, ca: [await readFile(certificate.file, 'utf8')] };
}

const refuses = (work: Promise<unknown>, reason: EgressReason, about: string = reason) =>
  assert.rejects(work, (error) => {
    assert.ok(error instanceof EgressError, String(error));
    assert.equal(error.reason, reason, about);
    return true;
  });

test('a request reaches an allowed server with method, headers and body, and returns its response', async (t) => {
  const site = await aSite(t, async (request, response) => {
    const body = (await Array.fromAsync(request)).join('');
    response.writeHead(201, { 'x-answer': 'yes' }).end(`${request.method} ${request.url} ${body}`);
  });
  const headers = { 'X-Signature': 'abc', Host: 'elsewhere' };
  const answer = await createEgress({ allowPrivate: loopback }).fetch(`${site.url}/hook?a=1#part`, {
    method: 'POST',
    headers,
    body: 'hello',
  });
  assert.deepEqual([answer.status, answer.body.toString()], [201, 'POST /hook?a=1 hello']);
  assert.equal(answer.headers['x-answer'], 'yes');
  assert.equal(site.seen[0]?.headers['x-signature'], 'abc');
  assert.equal(site.seen[0]?.headers.host, `127.0.0.1:${site.port}`, 'the Host header follows from the URL');
});

test('a TLS connection uses the host name, at the address that was checked', async (t) => {
  const { port, ca } = await aSecureSite(t, (request, response) => response.end(request.headers.host));
  const egress = createEgress({ lookup: async () => ['127.0.0.1'], allowPrivate: [`keys.idp.example:${port}`], ca });
  const answer = await egress.fetch(`https://keys.idp.example:${port}/jwks`);
  assert.equal(answer.body.toString(), `keys.idp.example:${port}`);
});

test('kept connections are used again, and one that the server closed meanwhile is replaced', async (t) => {
  let closes = false;
  const sockets = new Set<unknown>();
  const site = await aSite(t, (request, response) => {
    sockets.add(request.socket);
    // The client learns of the end only when it has sent its next request.
    if (closes) return request.socket.destroy();
    return response.end(request.url);
  });
  const connections = new KeptConnections();
  t.after(() => connections.close());
  const egress = createEgress({ allowPrivate: loopback });
  const get = async (path: string) => (await egress.fetch(`${site.url}${path}`, { connections })).body.toString();
  assert.deepEqual([await get('/1'), await get('/2'), sockets.size], ['/1', '/2', 1]);
  closes = true;
  await refuses(get('/3'), 'unreachable');
  assert.equal(sockets.size, 2, 'repeated once, on a new connection');
  closes = false;
  assert.equal(await get('/4'), '/4');
});

test('a certificate for another name or of an unknown authority is refused', async (t) => {
  const { port, ca } = await aSecureSite(t, (_request, response) => response.end());
  const settings = { lookup: async () => ['127.0.0.1'], allowPrivate: loopback };
  await refuses(createEgress({ ...settings, ca }).fetch(`https://other.example:${port}/`), 'unreachable');
  await refuses(createEgress(settings).fetch(`https://keys.idp.example:${port}/`), 'unreachable');
});

test('special-use addresses are refused in every spelling', async () => {
  const v4 = ['127.0.0.1', '127.1', '2130706433', '0x7f000001', '0177.0.0.1', '0', '0.0.0.0', '10.0.0.1', '172.16.0.1'];
  const v4more = [
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '192.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '198.51.100.1',
  ];
  const v4most = [
    '203.0.113.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '192.88.99.1',
    '１２７.0.0.1',
    '127。0。0。1',
  ];
  const v6 = ['[::1]', '[::]', '[::ffff:127.0.0.1]', '[::ffff:a9fe:a9fe]', '[::127.0.0.1]', '[fe80::1]', '[fc00::1]'];
  const v6more = [
    '[fd00:ec2::254]',
    '[ff02::1]',
    '[2001:db8::1]',
    '[2002:7f00:1::]',
    '[64:ff9b::a9fe:a9fe]',
    '[fec0::1]',
  ];
  const v6most = [
    '[64:ff9b:1::1]',
    '[2001::1]',
    '[100::1]',
    '[3fff::1]',
    '[5f00::1]',
    '[::ffff:0:127.0.0.1]',
    '[4000::1]',
  ];
  for (const host of [...v4, ...v4more, ...v4most, ...v6, ...v6more, ...v6most])
    await refuses(createEgress().fetch(`https://${host}/`), 'forbidden', host);
});

test('addresses of the public internet are allowed', () => {
  for (const address of [
    '1.1.1.1',
    '93.184.215.14',
    '2606:4700::1111',
    '2a00:1450::1',
    '::ffff:1.1.1.1',
    '64:ff9b::101:101',
  ])
    assert.equal(isPublic(address), true, address);
});

test('no notation of an internal IPv4 address makes it public', () => {
  const inner = fc.oneof(
    fc.tuple(fc.constantFrom(0, 10, 127, 224, 239, 240, 255), fc.nat(255), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(192), fc.constant(168), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(169), fc.constant(254), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), fc.nat(255), fc.nat(255)),
    fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), fc.nat(255), fc.nat(255)),
  );
  fc.assert(
    fc.property(inner, (octets) => {
      const hex = Buffer.from(octets)
        .toString('hex')
        .replace(/^(.{4})/, '$1:');
      for (const form of [
        octets.join('.'),
        `::ffff:${hex}`,
        `::${hex}`,
        `64:ff9b::${hex}`,
        `2002:${hex}::1`,
        `::ffff:0:${hex}`,
      ])
        assert.equal(isPublic(form), false, form);
    }),
  );
});

test('a host name is refused if any of its addresses is internal', async () => {
  for (const addresses of [['127.0.0.1'], ['1.1.1.1', '10.0.0.1'], ['2606:4700::1111', '::1'], ['fe80::1%1']])
    await refuses(
      createEgress({ lookup: async () => addresses }).fetch('https://rebind.example/'),
      'forbidden',
      `${addresses}`,
    );
});

test('a name is resolved once, so an answer that changes afterwards changes nothing', async (t) => {
  const site = await aSite(t, (_request, response) => response.end('checked'));
  let asked = 0;
  const lookup = async () => [['127.0.0.1'], ['10.0.0.1']][asked++]!;
  const egress = createEgress({ lookup, allowPrivate: loopback });
  assert.equal((await egress.fetch(`http://rebind.example:${site.port}/`)).body.toString(), 'checked');
  assert.equal(asked, 1);
  await refuses(egress.fetch(`http://rebind.example:${site.port}/`), 'forbidden');
});

test('only https is allowed, except to addresses, networks and hosts with ports that the operator allows', async (t) => {
  const site = await aSite(t, (_request, response) => response.end());
  const settings = { lookup: async () => ['127.0.0.1'] };
  await refuses(createEgress({ lookup: async () => ['1.1.1.1'] }).fetch('http://example.org/'), 'forbidden');
  for (const url of [
    'file:///etc/passwd',
    'gopher://example.org/',
    'ftp://example.org/',
    'data:,x',
    'ws://example.org/',
  ])
    await refuses(createEgress({ allowPrivate: ['0.0.0.0/0'] }).fetch(url), 'forbidden', url);
  const named = createEgress({ ...settings, allowPrivate: [`IDP.internal:${site.port}`, '[::1]:443'] });
  assert.equal((await named.fetch(`http://idp.internal:${site.port}/`)).status, 200);
  await refuses(named.fetch(`http://idp.internal:${site.port + 1}/`), 'forbidden');
  await refuses(named.fetch(`http://other.internal:${site.port}/`), 'forbidden');
});

test('an exception that is neither a network nor a host with a port stops the start', () => {
  for (const entry of ['', '127.0.0.1', 'host', 'host:0', 'host:99999', 'a b:1', 'u@host:1', '10.0.0.0/99'])
    assert.throws(() => createEgress({ allowPrivate: [entry] }), /neither a CIDR nor host:port/, entry);
});

test('a text that is no URL, or a URL with a user name or port 0, is an invalid URL', async () => {
  for (const url of [
    '',
    'example.org',
    '//example.org',
    'https://',
    'https://u:p@example.org',
    'https://u@1.1.1.1',
    'https://a:0/',
  ])
    await refuses(createEgress({ allowPrivate: loopback }).fetch(url), 'invalid-url', url);
});

test('redirects are followed up to the limit, and the response has the last address', async (t) => {
  const site = await aSite(t, (request, response) => {
    const left = Number(request.url!.slice(1));
    if (left === 0) response.end('there');
    else response.writeHead(302, { location: `/${left - 1}` }).end();
  });
  const egress = createEgress({ allowPrivate: loopback });
  const answer = await egress.fetch(`${site.url}/3`);
  assert.deepEqual([answer.body.toString(), answer.url], ['there', `${site.url}/0`]);
  await refuses(egress.fetch(`${site.url}/4`), 'redirects');
  await refuses(egress.fetch(`${site.url}/1`, { redirectsMax: 0 }), 'redirects');
});

test('each redirect is checked like the first address', async (t) => {
  for (const [location, reason] of [
    ['http://169.254.169.254/latest/meta-data', 'forbidden'],
    ['https://[::1]/', 'forbidden'],
    ['//10.0.0.1/', 'forbidden'],
    ['file:///etc/passwd', 'forbidden'],
    ['http://u:p@127.0.0.1/', 'invalid-url'],
    ['https://[', 'invalid-url'],
  ] as const) {
    const site = await aSite(t, (_request, response) => response.writeHead(307, { location }).end());
    await refuses(createEgress({ allowPrivate: loopback }).fetch(site.url), reason, location);
  }
});

test('credentials are not sent to another origin, and are kept within their own', async (t) => {
  const answer: RequestListener = (_request, response) => response.end();
  const other = await aSite(t, answer);
  const first = await aSite(t, (request, response) => {
    if (request.url === '/end') return response.end();
    return response.writeHead(307, { location: request.url === '/away' ? other.url : '/end' }).end();
  });
  const headers = { Authorization: 'Bearer secret', Cookie: 'a=b', 'X-Kept': 'yes' };
  const egress = createEgress({ allowPrivate: loopback });
  await egress.fetch(`${first.url}/away`, { headers });
  await egress.fetch(`${first.url}/near`, { headers });
  const { authorization, cookie, 'x-kept': kept } = other.seen[0]!.headers;
  assert.deepEqual([authorization, cookie, kept], [undefined, undefined, 'yes']);
  assert.equal(first.seen.at(-1)?.headers.authorization, 'Bearer secret');
});

test('after 303 a POST becomes a GET without a body, and after 307 it stays a POST', async (t) => {
  for (const [status, expected] of [
    [303, 'GET  undefined'],
    [302, 'GET  undefined'],
    [307, 'POST hello text/plain'],
  ] as const) {
    const site = await aSite(t, async (request, response) => {
      if (request.url === '/') return response.writeHead(status, { location: '/next' }).end();
      const body = (await Array.fromAsync(request)).join('');
      return response.end(`${request.method} ${body} ${request.headers['content-type']}`);
    });
    const options = { method: 'POST', body: 'hello', headers: { 'Content-Type': 'text/plain' } };
    const answer = await createEgress({ allowPrivate: loopback }).fetch(site.url, options);
    assert.equal(answer.body.toString(), expected);
  }
});

test('a body beyond the limit is cut off, with or without a declared length', async (t) => {
  const announced = await aSite(t, (_request, response) => response.end(Buffer.alloc(1001)));
  const endless = await aSite(t, (_request, response) => {
    const more = () => {
      while (response.write(Buffer.alloc(10_000)));
      response.once('drain', more);
    };
    more();
  });
  const egress = createEgress({ allowPrivate: loopback });
  await refuses(egress.fetch(announced.url, { bytesMax: 1000 }), 'too-large');
  assert.equal((await egress.fetch(announced.url, { bytesMax: 1001 })).body.length, 1001);
  await refuses(egress.fetch(endless.url), 'too-large');
});

test('headers beyond the limit are too large as well', async (t) => {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined).resume();
    socket.write(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`);
  });
  const port = await listen(t, server);
  await refuses(createEgress({ allowPrivate: loopback }).fetch(`http://127.0.0.1:${port}/`), 'too-large');
});

test('the request does not accept compression, and the body is not decompressed', async (t) => {
  const packed = gzipSync(Buffer.alloc(1_000_000));
  const site = await aSite(t, (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed),
  );
  const answer = await createEgress({ allowPrivate: loopback }).fetch(site.url, {
    headers: { 'Accept-Encoding': 'gzip' },
  });
  assert.equal(site.seen[0]?.headers['accept-encoding'], 'identity');
  assert.deepEqual(answer.body, packed);
});

test('one deadline covers a silent server, a slow body, a redirect loop and a slow name server', async (t) => {
  const silent = await aSite(t, () => undefined);
  const dripping = await aSite(t, (_request, response) => {
    const drip = setInterval(() => response.write('.'), 5);
    response.on('close', () => clearInterval(drip));
  });
  const circle = await aSite(t, (_request, response) => response.writeHead(302, { location: '/' }).end());
  const egress = createEgress({ allowPrivate: loopback });
  for (const url of [silent.url, dripping.url]) await refuses(egress.fetch(url, { timeoutMs: 100 }), 'timeout');
  await refuses(egress.fetch(circle.url, { timeoutMs: 100, redirectsMax: Infinity }), 'timeout');
  const { promise: never } = Promise.withResolvers<string[]>();
  await refuses(createEgress({ lookup: () => never }).fetch('https://slow.example/', { timeoutMs: 50 }), 'timeout');
});

test('after the deadline the connection is closed', async (t) => {
  const closed = Promise.withResolvers<void>();
  const site = await aSite(t, (request) => request.socket.on('close', () => closed.resolve()));
  await refuses(createEgress({ allowPrivate: loopback }).fetch(site.url, { timeoutMs: 50 }), 'timeout');
  await closed.promise;
});

test('a server that refuses, resets or breaks the connection is unreachable', async (t) => {
  const hangingUp = await listen(
    t,
    net.createServer((socket) => socket.destroy()),
  );
  const breakingOff = await aSite(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('half', () => response.destroy());
  });
  const egress = createEgress({ allowPrivate: loopback });
  for (const url of ['http://127.0.0.1:1/', `http://127.0.0.1:${hangingUp}/`, breakingOff.url])
    await refuses(egress.fetch(url), 'unreachable', url);
});

test('a name that does not resolve is unreachable', async () => {
  const failing = async () => {
    throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
  };
  for (const lookup of [failing, async () => [], async () => ['not an address']])
    await refuses(createEgress({ lookup }).fetch('https://nowhere.example/'), 'unreachable');
});
