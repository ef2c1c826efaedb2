import { createPrivateKey, createPublicKey, generateKeyPairSync, randomBytes } from 'node:crypto';
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
} from '@peculiar/x509';

const dayMs = 24 * 60 * 60 * 1000;
const lifetimeDays = 3652;
const NAME_CONSTRAINTS = '2.5.29.30';

/** One file, so that two processes never combine one's key with the other's certificate. */
export interface Kept {
  domain: string;
  key: string;
  cert: string;
  caKey: string;
  caCert: string;
}

/** Reuses the authority's key, so that clients that trust its previous certificate accept the new ones. */
export async function makeCertificate(domain: string, nowMs: number, caKey = newKey()): Promise<Kept> {
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
export async function issue(caKey: string, key: string, names: JsonGeneralNames, nowMs: number): Promise<string> {
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
