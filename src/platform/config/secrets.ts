import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { closeSync, fsyncSync, linkSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { Random } from '../runtime/random.ts';
import type { Environment } from './addresses.ts';
import { SettingError } from './settings.ts';

const LENGTH_MIN = 32;

/** Keys derived for one environment: signatures and digests of production are invalid in the sandbox. */
export interface Secrets {
  /** The stored digest of a key, token or code: sufficient to recognise it, not to use it. */
  digest(secret: string): string;
  /** Compares a digest with a secret in constant time. */
  isDigestOf(digest: string, secret: string): boolean;
  sign(purpose: string, text: string): string;
  verify(purpose: string, text: string, signature: string): boolean;
  /** Encrypts a value that must be readable later, such as a secret that a platform issued to a game. */
  seal(purpose: string, text: string): string;
  /** Throws if the value was sealed for another purpose or environment, or altered. */
  unseal(purpose: string, sealed: string): string;
}

const IV_BYTES = 12;
const TAG_BYTES = 16;

function isSame(expected: string, given: string): boolean {
  const [one, other] = [Buffer.from(expected), Buffer.from(given)];
  return one.length === other.length && timingSafeEqual(one, other);
}

export function secretsOf(master: string, environment: Environment): Secrets {
  // Bytes would be made a key again for each signature, which is almost half of its time.
  const keys = new Map<string, KeyObject>();
  const derive = (purpose: string) =>
    createSecretKey(createHmac('sha256', master).update(`${environment}/${purpose}`).digest());
  const keyFor = (purpose: string) => {
    const key = keys.get(purpose) ?? derive(purpose);
    keys.set(purpose, key);
    return key;
  };
  const digestKey = keyFor('digest');
  const sign = (purpose: string, text: string) =>
    createHmac('sha256', keyFor(`sign/${purpose}`))
      .update(text)
      .digest('base64url');
  const digest = (secret: string) => createHmac('sha256', digestKey).update(secret).digest('base64url');
  return {
    digest,
    isDigestOf: (kept, secret) => isSame(kept, digest(secret)),
    sign,
    verify: (purpose, text, signature) => isSame(sign(purpose, text), signature),
    seal: (purpose, text) => {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv('aes-256-gcm', keyFor(`seal/${purpose}`), iv);
      const sealed = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()];
      return Buffer.concat(sealed).toString('base64url');
    },
    unseal: (purpose, sealed) => {
      const bytes = Buffer.from(sealed, 'base64url');
      const options = { authTagLength: TAG_BYTES };
      const decipher = createDecipheriv('aes-256-gcm', keyFor(`seal/${purpose}`), bytes.subarray(0, IV_BYTES), options);
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
    },
  };
}

/** Reads the secret of the data folder or creates it. If two processes start at once, one of them creates it. */
export function masterSecret(folder: string, random: Random): string {
  const file = join(folder, 'secret');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const read = () => {
    const secret = readFileSync(file, 'utf8').trim();
    if (secret.length < LENGTH_MIN)
      throw new SettingError(`${file} holds no secret of ${LENGTH_MIN} characters or more; restore it.`);
    return secret;
  };
  try {
    return read();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    const temporary = join(folder, `.secret-${random.hex(8)}`);
    const descriptor = openSync(temporary, 'wx', 0o600);
    writeSync(descriptor, `${random.hex(64)}\n`);
    fsyncSync(descriptor);
    closeSync(descriptor);
    try {
      linkSync(temporary, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    } finally {
      rmSync(temporary);
    }
    syncFolder(folder);
    return read();
  }
}

/** A new directory entry is durable only after an fsync of the directory. */
function syncFolder(folder: string): void {
  const descriptor = openSync(folder, 'r');
  fsyncSync(descriptor);
  closeSync(descriptor);
}
