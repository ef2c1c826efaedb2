import { X509Certificate } from 'node:crypto';
import { compactVerify, decodeProtectedHeader } from 'jose';
import { objectOf } from '../../signin/portals/platform-requests.ts';
import { StoreRefusal } from './adapter.ts';
import { APPLE_ROOT_CA_G3 } from './apple-root.ts';
import type { Json } from './asking.ts';

/** Apple marks the certificates that sign for the App Store, and the authority that issues them. */
const SIGNS_RECEIPTS = '1.2.840.113635.100.6.11.1';
const ISSUES_SIGNERS = '1.2.840.113635.100.6.2.1';
const CHAIN_LENGTH = 3;
const CERTIFICATE_CHARACTERS_MAX = 16_384;
const SKEW_MS = 60_000;

export interface AppleTrust {
  /** PEM. */
  readonly root: string;
}
export const APPLE_TRUST: AppleTrust = { root: APPLE_ROOT_CA_G3 };

/**
 * The content of what the App Store has signed. The chain in the header counts only if it leads to the pinned root and
 * its certificates have Apple's marks: Apple's root also stands above certificates that any developer can get.
 */
export async function verifyAppleSignature(trust: AppleTrust, jws: string, nowSeconds: number): Promise<Json> {
  try {
    const leaf = await requireChain(trust, chainOf(jws), nowSeconds * 1_000);
    const { payload } = await compactVerify(jws, leaf.publicKey, { algorithms: ['ES256'] });
    return objectOf(JSON.parse(Buffer.from(payload).toString('utf8')));
  } catch (cause) {
    // Parsers of certificates throw many kinds of errors. Whatever it is, the signature is not proven.
    throw cause instanceof StoreRefusal ? cause : new StoreRefusal('buyer', 'not signed by the App Store', { cause });
  }
}

function chainOf(jws: string): X509Certificate[] {
  const { x5c } = decodeProtectedHeader(jws);
  const isChain = (chain: unknown): chain is string[] =>
    Array.isArray(chain) &&
    chain.length === CHAIN_LENGTH &&
    chain.every((each) => typeof each === 'string' && each.length <= CERTIFICATE_CHARACTERS_MAX);
  if (!isChain(x5c)) throw new StoreRefusal('buyer', 'no certificate chain');
  return x5c.map((each) => new X509Certificate(Buffer.from(each, 'base64')));
}

async function requireChain(
  { root: pem }: AppleTrust,
  chain: readonly X509Certificate[],
  now: number,
): Promise<X509Certificate> {
  const root = new X509Certificate(pem);
  const [leaf, intermediate, sent] = chain as [X509Certificate, X509Certificate, X509Certificate];
  const isTrusted =
    sent.raw.equals(root.raw) &&
    isIssuedBy(intermediate, root) &&
    intermediate.ca &&
    isIssuedBy(leaf, intermediate) &&
    !leaf.ca &&
    (await hasMark(leaf, SIGNS_RECEIPTS)) &&
    (await hasMark(intermediate, ISSUES_SIGNERS)) &&
    [leaf, intermediate, root].every((each) => isCurrent(each, now));
  if (!isTrusted) throw new StoreRefusal('buyer', 'the certificate chain does not lead to Apple');
  return leaf;
}

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

/** The library is loaded at the first receipt, because most services never get one. */
async function hasMark({ raw }: X509Certificate, mark: string): Promise<boolean> {
  const { X509Certificate: CertificateReader } = await import('@peculiar/x509');
  return new CertificateReader(new Uint8Array(raw)).getExtension(mark) !== null;
}

const isCurrent = ({ validFrom, validTo }: X509Certificate, now: number): boolean =>
  Date.parse(validFrom) <= now + SKEW_MS && Date.parse(validTo) >= now - SKEW_MS;
