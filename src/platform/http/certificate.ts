import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { link, readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createSecureContext, type SecureContext } from 'node:tls';
import {
  AuthorityKeyIdentifierExtension,
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  Extension,
  type JsonGeneralNames,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  SubjectKeyIdentifierExtension,
  X509CertificateGenerator,
  X509Certificate as X509CertificateReader,
} from '@peculiar/x509';
import { LRUCache } from 'lru-cache';
import { ensureDirectory, errorCode, unlessCode, writeDurably, writeTemporary } from '../storage/durable.ts';

/** Can be spread into the options of a TLS server. */
export interface LocalCertificate {
  key: string;
  cert: string;
  /** The certificate to trust, for `curl --cacert` and the `ca` of Node. */
  file: string;
  SNICallback: (servername: string, done: (error: Error | null, context?: SecureContext) => void) => void;
}

const dayMs = 24 * 60 * 60 * 1000;
const lifetimeDays = 3652;
const renewalDays = 30;
const namedContextsMax = 200;
const NAME_CONSTRAINTS = '2.5.29.30';

/**
 * The certificate for a start without `MODSTEAD_TLS_CERT`. It is stored in this folder with the authority that signed
 * it, and is replaced when the domain changes or it is about to expire.
 */
export async function localCertificate(
  folder: string,
  domain: string,
  now: () => number = Date.now,
): Promise<LocalCertificate> {
  await ensureDirectory(folder, 0o700);
  const kept = await keptOrNew(folder, domain.toLowerCase(), now);
  const file = join(folder, 'local-ca.pem');
  const published = await readFile(file, 'utf8').catch(unlessCode('ENOENT'));
  if (published !== kept.caCert) await writeDurably(file, kept.caCert, 0o644);
  return { key: kept.key, cert: kept.cert, file, SNICallback: namedContexts(kept, now) };
}

/** One file, so that two processes never combine one's key with the other's certificate. */
interface Kept {
  domain: string;
  key: string;
  cert: string;
  caKey: string;
  caCert: string;
}

const nameOf = (generation: number) => `local-certificate-${generation}.json`;
const generationIn = (name: string) => Number(/^local-certificate-(\d+)\.json$/.exec(name)?.[1] ?? 0);

/**
 * Each renewal is a new generation, and only one process can link its file to that name; the others read the winner's.
 * Overwriting would leave one process with a certificate that is no longer on disk.
 */
async function keptOrNew(folder: string, domain: string, now: () => number): Promise<Kept> {
  for (;;) {
    const generation = Math.max(0, ...(await readdir(folder)).map(generationIn));
    const kept = generation ? await readKept(join(folder, nameOf(generation))) : undefined;
    if (kept && isGood(kept, domain, now())) return kept;
    const made = await make(domain, now(), kept?.domain === domain ? kept.caKey : newKey());
    if (await claim(folder, generation + 1, made)) return made;
  }
}

async function readKept(path: string): Promise<Kept | undefined> {
  const text = await readFile(path, 'utf8').catch(unlessCode('ENOENT'));
  try {
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new Error(`${path} is damaged; remove it to have a new certificate made`, { cause });
  }
}

function isGood(kept: Kept, domain: string, nowMs: number): boolean {
  const endMs = new X509Certificate(kept.cert).validToDate.getTime();
  return kept.domain === domain && endMs - nowMs >= renewalDays * dayMs && !hasCriticalConstraint(kept.caCert);
}

/** The TLS library of a shipped client cannot parse one and refuses every connection (docs/API-QUIRKS.md, 32). */
function hasCriticalConstraint(caCert: string): boolean {
  return new X509CertificateReader(caCert).getExtension(NAME_CONSTRAINTS)?.critical === true;
}

async function claim(folder: string, generation: number, made: Kept): Promise<boolean> {
  const temporary = await writeTemporary(folder, (handle) => handle.writeFile(JSON.stringify(made, null, 2)), 0o600);
  try {
    await link(temporary, join(folder, nameOf(generation)));
  } catch (error) {
    if (errorCode(error) === 'EEXIST') return false;
    throw error;
  } finally {
    await unlink(temporary);
  }
  if (generation > 1) await unlink(join(folder, nameOf(generation - 1))).catch(unlessCode('ENOENT'));
  return true;
}

/** Reuses the authority's key, so that clients that trust its previous certificate accept the new ones. */
async function make(domain: string, nowMs: number, caKey: string): Promise<Kept> {
  const key = newKey();
  const caCert = await makeAuthority(caKey, domain, nowMs);
  return { domain, key, cert: await issue(caKey, key, namesOf(domain), nowMs), caKey, caCert };
}

function newKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
    type: 'pkcs8',
    format: 'pem',
  }) as string;
}

const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const privateKeyOf = (pem: string) => createPrivateKey(pem).toCryptoKey(algorithm, false, ['sign']);
const publicKeyOf = (pem: string) => createPublicKey(pem).toCryptoKey(algorithm, true, ['verify']);
const authorityName = 'O=Modstead, CN=Modstead local authority';

/** The authority is limited to this domain and this machine, so that trusting it is low-risk. */
async function makeAuthority(caKey: string, domain: string, nowMs: number): Promise<string> {
  const publicKey = publicKeyOf(caKey);
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...frame(nowMs),
    name: authorityName,
    keys: { privateKey: privateKeyOf(caKey), publicKey },
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
      new Extension(NAME_CONSTRAINTS, false, nameConstraints([...new Set([domain, 'localhost'])])),
      await SubjectKeyIdentifierExtension.create(publicKey),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Python 3.13 and other strict clients refuse a certificate without the two key identifiers. */
async function issue(caKey: string, key: string, names: JsonGeneralNames, nowMs: number): Promise<string> {
  const publicKey = publicKeyOf(key);
  const certificate = await X509CertificateGenerator.create({
    ...frame(nowMs),
    subject: 'O=Modstead, CN=Modstead local server',
    issuer: authorityName,
    publicKey,
    signingKey: privateKeyOf(caKey),
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      new KeyUsagesExtension(KeyUsageFlags.digitalSignature, true),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
      new SubjectAlternativeNameExtension(names),
      await SubjectKeyIdentifierExtension.create(publicKey),
      await AuthorityKeyIdentifierExtension.create(publicKeyOf(caKey)),
    ],
  });
  return `${certificate.toString('pem')}\n`;
}

/** Valid since yesterday, for clients whose clock is behind. */
function frame(nowMs: number) {
  return {
    // A first byte of 01 to 7f keeps the number positive and without leading zeros, as RFC 5280 requires.
    serialNumber: `01${randomBytes(15).toString('hex')}`,
    notBefore: new Date(nowMs - dayMs),
    notAfter: new Date(nowMs + lifetimeDays * dayMs),
    signingAlgorithm: algorithm,
  };
}

function namesOf(domain: string): JsonGeneralNames {
  const hosts = [domain, `*.${domain}`, `test.${domain}`, `*.test.${domain}`, `*.ws.${domain}`, 'localhost'];
  return [
    ...[...new Set(hosts)].map((value) => ({ type: 'dns' as const, value })),
    { type: 'ip', value: '127.0.0.1' },
    { type: 'ip', value: '::1' },
  ];
}

/** RFC 5280, section 4.2.1.10: the permitted subtrees, each a DNS name (tag 82) or an address and its mask (tag 87). */
function nameConstraints(domains: string[]): Uint8Array<ArrayBuffer> {
  const loopback = [
    [127, 0, 0, 1, 255, 255, 255, 255],
    [...Array(15).fill(0), 1, ...Array(16).fill(255)],
  ];
  const names = domains.map((domain) => der(0x82, Buffer.from(domain)));
  const subtrees = [...names, ...loopback.map((bytes) => der(0x87, Buffer.from(bytes)))].map((name) => der(0x30, name));
  return new Uint8Array(der(0x30, der(0xa0, Buffer.concat(subtrees))));
}

function der(tag: number, content: Buffer): Buffer {
  const { length } = content;
  const size = length < 0x80 ? [length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

/**
 * OpenSSL, Node and browsers reject `*.localhost`: a wildcard directly below a top-level name is too wide. For a
 * single-word domain each name below it gets its own certificate on first use.
 */
function namedContexts(kept: Kept, now: () => number): LocalCertificate['SNICallback'] {
  const contexts = new LRUCache<string, Promise<SecureContext>>({ max: namedContextsMax });
  const below = new RegExp(`^[a-z0-9-]{1,63}\\.${RegExp.escape(kept.domain)}$`);
  return (servername, done) => {
    const name = servername.toLowerCase();
    if (kept.domain.includes('.') || !below.test(name)) return done(null);
    const context = contexts.get(name) ?? namedContext(kept, name, now());
    contexts.set(name, context);
    context.then((made) => done(null, made), done);
  };
}

async function namedContext({ caKey, key }: Kept, name: string, nowMs: number): Promise<SecureContext> {
  return createSecureContext({ key, cert: await issue(caKey, key, [{ type: 'dns', value: name }], nowMs) });
}
