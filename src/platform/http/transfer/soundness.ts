import { LRUCache } from 'lru-cache';
import type { OpenObject } from '../../storage/storage.ts';

/** Stored bytes are not those that were put there. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

const OBJECTS_MAX = 10_000;
const TRUSTED_MS = 24 * 60 * 60 * 1000;

/** Which objects were read whole and found to be what they should; disks may change what they hold, so not for ever. */
export class Soundness {
  readonly #found = new LRUCache<string, Promise<void>>({ max: OBJECTS_MAX, ttl: TRUSTED_MS });

  readonly #damaged = new Set<string>();

  /** Settles once the object has been read, at once where it was before; rejects where it is damaged. */
  check(opened: OpenObject, sha256: string): Promise<void> {
    const name = nameOf(opened, sha256);
    const found = this.#found.get(name);
    if (found) return found;
    const check = compare(opened, sha256);
    this.#found.set(name, check);
    // What could not be read is read again the next time; what is damaged stays so until it is replaced.
    check.catch((error) => (error instanceof Damaged ? this.#damaged.add(name) : this.#found.delete(name)));
    return check;
  }

  isDamaged(opened: OpenObject, sha256: string): boolean {
    return this.#damaged.has(nameOf(opened, sha256));
  }
}

const nameOf = ({ version }: OpenObject, sha256: string) => `${sha256} ${version}`;

async function compare(opened: OpenObject, sha256: string): Promise<void> {
  const digest = await opened.digest();
  if (digest !== sha256) throw new Damaged(`an object has the SHA-256 ${digest} and should have ${sha256}`);
}
