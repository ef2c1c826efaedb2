import type { IncomingMessage } from 'node:http';
import type { Settings } from '../config/settings.ts';
import { peerOf } from './address.ts';

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
  readonly #meanings = new Map<string, Meaning>();

  constructor({ trustProxy }: Settings) {
    this.#trustProxy = trustProxy;
  }

  find(request: IncomingMessage): Meaning | undefined {
    if (this.#meanings.size === 0 || request.method !== 'GET') return undefined;
    return this.#meanings.get(this.#fingerprintOf(request));
  }

  remember(request: IncomingMessage, meaning: Meaning): void {
    const fingerprint = this.#fingerprintOf(request);
    if (fingerprint.length > REPEAT_CHARACTERS_MAX) return;
    if (this.#meanings.size >= REPEATS_MAX) this.#meanings.delete(this.#meanings.keys().next().value!);
    this.#meanings.set(fingerprint, meaning);
  }

  isForwarded({ socket, headers }: IncomingMessage): boolean {
    return peerOf(socket, this.#trustProxy).trusted && headers['x-forwarded-for'] !== undefined;
  }

  addressOf({ socket }: IncomingMessage, { forwarded, ip }: Meaning): string {
    return forwarded ? ip : peerOf(socket, this.#trustProxy).address;
  }

  /** The target, all headers, and how far the connection is trusted. */
  #fingerprintOf({ url, rawHeaders, socket }: IncomingMessage): string {
    const peer = peerOf(socket, this.#trustProxy);
    const standing = peer.encrypted ? 's' : peer.trusted ? 't' : 'p';
    return `${standing}${url}\n${rawHeaders.join('\n')}`;
  }
}
