import { webcrypto } from 'node:crypto';
import { BasicConstraintsExtension, Extension, X509CertificateGenerator } from '@peculiar/x509';
import { SignJWT } from 'jose';

const DAY = 86_400_000;
const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const NOTHING = new Uint8Array([5, 0]);

type Pair = webcrypto.CryptoKeyPair;
const newPair = () => webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']) as Promise<Pair>;

interface ChainOptions {
  readonly now: number;
  /** Leaves out one of Apple's marks. */
  readonly without?: 'signer' | 'issuer';
  readonly expired?: boolean;
}

/** An App Store of its own: a root, an authority and a signer, with Apple's marks. */
export class AppleChain {
  readonly root: string;
  readonly #x5c: string[];
  readonly #signer: Pair;

  constructor(root: string, x5c: string[], signer: Pair) {
    this.root = root;
    this.#x5c = x5c;
    this.#signer = signer;
  }

  sign(payload: Record<string, unknown>, header: Record<string, unknown> = {}): Promise<string> {
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'ES256', x5c: this.#x5c, ...header })
      .sign(this.#signer.privateKey);
  }

  get x5c(): readonly string[] {
    return this.#x5c;
  }
}

export async function appleChain({ now, without, expired }: ChainOptions): Promise<AppleChain> {
  const [rootKeys, issuerKeys, signer] = [await newPair(), await newPair(), await newPair()];
  const notBefore = new Date(now * 1_000 - 400 * DAY);
  const frame = { notBefore, notAfter: new Date(now * 1_000 + 400 * DAY), signingAlgorithm: ALGORITHM };
  const root = await X509CertificateGenerator.createSelfSigned({
    ...frame,
    serialNumber: '01',
    name: 'CN=Test Root CA',
    keys: rootKeys,
    extensions: [new BasicConstraintsExtension(true, undefined, true)],
  });
  const issuer = await X509CertificateGenerator.create({
    ...frame,
    serialNumber: '02',
    subject: 'CN=Test Worldwide Authority',
    issuer: 'CN=Test Root CA',
    publicKey: issuerKeys.publicKey,
    signingKey: rootKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      ...(without === 'issuer' ? [] : [new Extension('1.2.840.113635.100.6.2.1', false, NOTHING)]),
    ],
  });
  const leaf = await X509CertificateGenerator.create({
    ...frame,
    ...(expired && { notAfter: new Date(now * 1_000 - DAY) }),
    serialNumber: '03',
    subject: 'CN=Test App Store',
    issuer: 'CN=Test Worldwide Authority',
    publicKey: signer.publicKey,
    signingKey: issuerKeys.privateKey,
    extensions: [
      new BasicConstraintsExtension(false, undefined, true),
      ...(without === 'signer' ? [] : [new Extension('1.2.840.113635.100.6.11.1', false, NOTHING)]),
    ],
  });
  const x5c = [leaf, issuer, root].map((each) => Buffer.from(each.rawData).toString('base64'));
  return new AppleChain(`${root.toString('pem')}\n`, x5c, signer);
}
