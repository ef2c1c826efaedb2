import { LRUCache } from 'lru-cache';
import type { OpenObject } from '../../storage/storage.ts';

/** Stored bytes differ from those that were written. */
export class Damaged extends Error {
  override readonly name = 'Damaged';
}

const OBJECTS_MAX = 10_000;
const TRUSTED_MS = 24 * 60 * 60 * 1000;

/** Remembers which objects were verified against their hash, for a limited time, because disks can corrupt data. */
export class Soundness {
  readonly #found = new LRUCache<string, Promise<void>>({ max: OBJECTS_MAX, ttl: TRUSTED_MS });

  readonly #damaged = new Set<string>();

  /** Resolves once the object is verified; rejects when it is damaged. */
  check(opened: OpenObject, sha256: string): Promise<void> {
    const name = nameOf(opened, sha256);
    const found = this.#found.get(name);
    if (found) return found;
    const check = compare(opened, sha256);
    this.#found.set(name, check);
    // A read failure is retried next time; damage stays until the object is replaced.
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
