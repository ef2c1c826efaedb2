import { createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import type { Secrets } from '../../platform/config/secrets.ts';

/** What precedes the 32 bytes of an Ed25519 key in PKCS #8 and SPKI. */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex');
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex');

export interface Signer {
  /** Base64url of the 32 bytes. */
  readonly publicKey: string;
  sign(bytes: Uint8Array): string;
}

/** The key follows from the secret of the service, so that all archives of a service have the same signer. */
export function signerOf(secrets: Secrets): Signer {
  const seed = Buffer.from(secrets.sign('archive', 'ed25519'), 'base64url');
  const key = createPrivateKey({ key: Buffer.concat([PRIVATE_PREFIX, seed]), format: 'der', type: 'pkcs8' });
  const shared = createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(PUBLIC_PREFIX.length);
  return { publicKey: shared.toString('base64url'), sign: (bytes) => sign(null, bytes, key).toString('base64url') };
}

export function isSignedBy(publicKey: string, bytes: Uint8Array, signature: string): boolean {
  const raw = Buffer.from(publicKey, 'base64url');
  if (raw.length !== 32) return false;
  const key = createPublicKey({ key: Buffer.concat([PUBLIC_PREFIX, raw]), format: 'der', type: 'spki' });
  return verify(null, bytes, key, Buffer.from(signature, 'base64url'));
}
