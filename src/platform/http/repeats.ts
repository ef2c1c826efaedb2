import type { IncomingMessage } from 'node:http';
import type { Settings } from '../config/settings.ts';
import { fingerprintOf, peerOf } from './address.ts';

const REPEATS_MAX = 10_000;
const REPEAT_CHARACTERS_MAX = 2_000;

/** From which address such a request came. */
export interface Sender {
  readonly ip: string;
  /** The client address came from a header, not from the connection. */
  readonly forwarded: boolean;
}

/**
 * What requests mean that were answered from a cache. Another one with the same target and headers means the same, so
 * it is not parsed again; its credentials and rate limits are still checked.
 */
export class Repeats<Meaning extends Sender> {
  readonly #trustProxy: Settings['trustProxy'];
  /** By the fingerprint of a request, then by its target. */
  readonly #meanings = new Map<string, Map<string, Meaning>>();
  #size = 0;

  constructor({ trustProxy }: Settings) {
    this.#trustProxy = trustProxy;
  }

  find(request: IncomingMessage): Meaning | undefined {
    if (this.#size === 0 || request.method !== 'GET') return undefined;
    return this.#meanings.get(fingerprintOf(request, this.#trustProxy))?.get(request.url!);
  }

  remember(request: IncomingMessage, meaning: Meaning): void {
    const fingerprint = fingerprintOf(request, this.#trustProxy);
    const url = request.url!;
    if (fingerprint.length + url.length > REPEAT_CHARACTERS_MAX) return;
    if (this.#size >= REPEATS_MAX) this.#forgetAll();
    const same = this.#meanings.get(fingerprint) ?? new Map<string, Meaning>();
    this.#meanings.set(fingerprint, same);
    if (!same.has(url)) this.#size += 1;
    same.set(url, meaning);
  }

  isForwarded({ socket, headers }: IncomingMessage): boolean {
    return peerOf(socket, this.#trustProxy).trusted && headers['x-forwarded-for'] !== undefined;
  }

  addressOf({ socket }: IncomingMessage, { forwarded, ip }: Meaning): string {
    return forwarded ? ip : peerOf(socket, this.#trustProxy).address;
  }

  #forgetAll(): void {
    this.#meanings.clear();
    this.#size = 0;
  }
}
