import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { promisify } from 'node:util';
import { Extension, X509CertificateGenerator, X509Certificate as X509CertificateReader } from '@peculiar/x509';
import { type LocalCertificate, localCertificate } from './certificate.ts';

const run = promisify(execFile);
const dayMs = 86_400_000;

async function aFolder(t: TestContext): Promise<string> {
  const parent = await mkdtemp(join(tmpdir(), 'modstead-certificate-'));
  t.after(() => rm(parent, { recursive: true, force: true }));
  return join(parent, 'tls');
}

async function aServer(t: TestContext, certificate: LocalCertificate): Promise<number> {
  const server = https.createServer({ ...certificate }, (request, response) =>
    response.end(`hello ${request.headers.host}`),
  );
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** Sends a request to this machine under that name, trusting only the given authority. */
function ask(port: number, host: string, ca: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const lookup: https.RequestOptions['lookup'] = (_name, _options, done) =>
    done(null, [{ address: '127.0.0.1', family: 4 }]);
  https
    .get({ host, port, ca, lookup, agent: false }, (response) =>
      response.resume().on('end', () => resolve(response.statusCode!)),
    )
    .on('error', reject);
  return promise;
}

const localHosts = ['localhost', 'test.localhost', 'api.localhost', 'g-1.localhost', 'u-4711.localhost', '127.0.0.1'];
const deepHosts = ['g-1.test.localhost', 'u-4711.test.localhost', 'g-1.ws.localhost'];

test('Node accepts the certificate under every address of the service, once its authority is trusted', async (t) => {
  const certificate = await localCertificate(await aFolder(t), 'localhost');
  const port = await aServer(t, certificate);
  const ca = await readFile(certificate.file, 'utf8');
  for (const host of [...localHosts, ...deepHosts]) assert.equal(await ask(port, host, ca), 200, host);
});

const curl = spawnSync('curl', ['--version']).status === 0;

test('curl accepts it too, with --cacert and the file', { skip: !curl && 'no curl here' }, async (t) => {
  const { file, ...certificate } = await localCertificate(await aFolder(t), 'localhost');
  const port = await aServer(t, { file, ...certificate });
  for (const host of [...localHosts, ...deepHosts]) {
    const there = ['--resolve', `${host}:${port}:127.0.0.1`, `https://${host}:${port}/`];
    const { stdout } = await run('curl', ['--silent', '--show-error', '--noproxy', '*', '--cacert', file, ...there]);
    assert.equal(stdout, `hello ${host}:${port}`);
  }
});

test('the wildcards of a domain with several labels cover all its hosts', async (t) => {
  const certificate = await localCertificate(await aFolder(t), 'mods.example.org');
  const port = await aServer(t, certificate);
  const ca = await readFile(certificate.file, 'utf8');
  for (const prefix of ['', 'g-1.', 'api.', 'test.', 'u-2.test.', 'g-1.ws.'])
    assert.equal(await ask(port, `${prefix}mods.example.org`, ca), 200, prefix);
  certificate.SNICallback('g-1.mods.example.org', (error, context) =>
    assert.deepEqual([error, context], [null, undefined]),
  );
});

test('names outside of the domain are not accepted', async (t) => {
  const certificate = await localCertificate(await aFolder(t), 'localhost');
  const port = await aServer(t, certificate);
  const ca = await readFile(certificate.file, 'utf8');
  for (const host of ['example.org', 'a.b.localhost', 'evillocalhost'])
    await assert.rejects(ask(port, host, ca), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }, host);
});

test('it is an EC certificate for ten years that names the domain, its wildcards and this machine', async (t) => {
  const { cert, file } = await localCertificate(await aFolder(t), 'example.test');
  const parsed = new X509Certificate(cert);
  assert.equal(parsed.publicKey.asymmetricKeyDetails?.namedCurve, 'prime256v1');
  const names = [
    'example.test',
    '*.example.test',
    'test.example.test',
    '*.test.example.test',
    '*.ws.example.test',
    'localhost',
  ];
  const addresses = ['127.0.0.1', '0:0:0:0:0:0:0:1'];
  assert.equal(
    parsed.subjectAltName,
    [...names.map((name) => `DNS:${name}`), ...addresses.map((address) => `IP Address:${address}`)].join(', '),
  );
  const days = (parsed.validToDate.getTime() - Date.now()) / dayMs;
  assert.ok(days > 3650 && days < 3653);
  const authority = new X509Certificate(await readFile(file));
  assert.ok(authority.ca && !parsed.ca && parsed.verify(authority.publicKey));
});

test('the certificate is created once and stored, and only the owner may read the keys', async (t) => {
  const folder = await aFolder(t);
  const first = await localCertificate(folder, 'localhost');
  const second = await localCertificate(folder, 'localhost');
  assert.deepEqual([second.key, second.cert, second.file], [first.key, first.cert, first.file]);
  assert.deepEqual((await readdir(folder)).sort(), ['local-ca.pem', 'local-certificate-1.json']);
  assert.ok(!(await readFile(first.file, 'utf8')).includes('PRIVATE'));
  if (process.platform === 'win32') return;
  assert.equal((await stat(join(folder, 'local-certificate-1.json'))).mode & 0o777, 0o600);
});

test('another domain gets another certificate', async (t) => {
  const folder = await aFolder(t);
  const first = await localCertificate(folder, 'localhost');
  const second = await localCertificate(folder, 'example.test');
  assert.notEqual(second.cert, first.cert);
  assert.deepEqual((await readdir(folder)).sort(), ['local-ca.pem', 'local-certificate-2.json']);
  assert.ok(new X509Certificate(second.cert).verify(new X509Certificate(await readFile(second.file)).publicKey));
});

test('with less than thirty days left it is renewed, and not before', async (t) => {
  const folder = await aFolder(t);
  const first = await localCertificate(folder, 'localhost');
  const endMs = new X509Certificate(first.cert).validToDate.getTime();
  assert.equal((await localCertificate(folder, 'localhost', () => endMs - 30 * dayMs)).cert, first.cert);
  const renewed = await localCertificate(folder, 'localhost', () => endMs - 30 * dayMs + 1);
  assert.notEqual(renewed.cert, first.cert);
  assert.ok(new X509Certificate(renewed.cert).validToDate.getTime() > endMs + 3000 * dayMs);
});

test('processes that start at once all use the same certificate, new or renewed', async (t) => {
  const folder = await aFolder(t);
  const script = `
    const { localCertificate } = await import(${JSON.stringify(import.meta.resolve('./certificate.ts'))});
    const made = await localCertificate(${JSON.stringify(folder)}, process.argv[1]);
    process.stdout.write(made.key + made.cert);`;
  const startFour = (domain: string) =>
    Promise.all([1, 2, 3, 4].map(() => run(process.execPath, ['--input-type=module', '-e', script, domain])));
  for (const domain of ['localhost', 'example.test'])
    assert.equal(new Set((await startFour(domain)).map(({ stdout }) => stdout)).size, 1, domain);
  assert.equal((await readdir(folder)).length, 2, 'no temporary file is left');
});

test('of many concurrent calls in a process one creates the certificate and all return it', async (t) => {
  const folder = await aFolder(t);
  const made = await Promise.all(Array.from({ length: 8 }, () => localCertificate(folder, 'localhost')));
  assert.equal(new Set(made.map(({ cert }) => cert)).size, 1);
});

test('a damaged file stops the start with a message that names the remedy', async (t) => {
  const folder = await aFolder(t);
  await localCertificate(folder, 'localhost');
  await writeFile(join(folder, 'local-certificate-1.json'), '{');
  await assert.rejects(localCertificate(folder, 'localhost'), /damaged; remove it/);
});

const NAME_CONSTRAINTS = '2.5.29.30';
const constraintOf = async (file: string) =>
  new X509CertificateReader(await readFile(file, 'utf8')).getExtension(NAME_CONSTRAINTS);

test('the authority constrains its names without making that critical, which the C++ SDK cannot parse (32)', async (t) => {
  const { file, cert } = await localCertificate(await aFolder(t), 'localhost');
  assert.equal((await constraintOf(file))?.critical, false);
  const critical = [...new X509CertificateReader(cert).extensions].filter((extension) => extension.critical);
  assert.deepEqual(critical.map(({ type }) => type).sort(), ['2.5.29.15', '2.5.29.19']);
});

/** The stored authority as earlier versions created it, with a critical constraint. */
async function makeConstraintCritical(folder: string): Promise<string> {
  const path = join(folder, 'local-certificate-1.json');
  const kept = JSON.parse(await readFile(path, 'utf8'));
  const made = new X509CertificateReader(kept.caCert);
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
  const earlier = await X509CertificateGenerator.createSelfSigned({
    name: made.subject,
    serialNumber: made.serialNumber,
    notBefore: made.notBefore,
    notAfter: made.notAfter,
    signingAlgorithm: algorithm,
    keys: {
      privateKey: createPrivateKey(kept.caKey).toCryptoKey(algorithm, false, ['sign']),
      publicKey: createPublicKey(kept.caKey).toCryptoKey(algorithm, true, ['verify']),
    },
    extensions: made.extensions.map(({ type, critical, value }) =>
      type === NAME_CONSTRAINTS ? new Extension(type, true, value) : new Extension(type, critical, value),
    ),
  });
  const caCert = `${earlier.toString('pem')}\n`;
  await writeFile(path, JSON.stringify({ ...kept, caCert }));
  await writeFile(join(folder, 'local-ca.pem'), caCert);
  return caCert;
}

test('an authority of earlier versions is renewed with its key, so that clients need not trust it again', async (t) => {
  const folder = await aFolder(t);
  await localCertificate(folder, 'localhost');
  const trusted = await makeConstraintCritical(folder);
  const renewed = await localCertificate(folder, 'localhost');
  assert.equal((await constraintOf(renewed.file))?.critical, false);
  assert.deepEqual((await readdir(folder)).sort(), ['local-ca.pem', 'local-certificate-2.json']);
  const port = await aServer(t, renewed);
  for (const ca of [trusted, await readFile(renewed.file, 'utf8')])
    for (const host of ['localhost', 'g-1.localhost']) assert.equal(await ask(port, host, ca), 200, host);
  assert.equal((await localCertificate(folder, 'localhost')).cert, renewed.cert);
});
